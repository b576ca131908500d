package httpgate

import (
	"bufio"
	"io"
	"maps"
	"net"
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/internal/handling"
)

// writer is what a handler writes its answer to. Whose answer it is until the
// first byte, the handler's or the server's goroutine's, is settled by the run; who
// comes first has the server's writer to itself from then on, so that no lock is
// held while bytes flow.
//
// The handler has a header map of its own, since it may be busy with it when the
// other answers. It is copied into the server's when the answer begins, and once
// more when it ends, for the trailers.
type writer struct {
	run      *handling.Run
	permit   gate.Permit
	server   http.ResponseWriter
	shown    http.ResponseWriter // the writer with the server's own abilities
	header   http.Header
	outer    http.Header // what handlers around this one have set
	hijacked bool
	first    func() // sync, made once
}

func (w *writer) open(run *handling.Run, permit gate.Permit, server http.ResponseWriter) {
	w.run, w.permit, w.server = run, permit, server
	w.outer = maps.Clone(server.Header())
	w.header = make(http.Header, len(w.outer)+8)
	maps.Copy(w.header, w.outer)
	w.header[HeaderRung], w.header[HeaderReason] = rungPrimary, reasonServed
	w.shown = show(w, server)
	w.first = w.sync
}

// begin makes the answer the handler's, and reports whether it is.
func (w *writer) begin() bool { return w.run.Begin(w.first) }

// complete hands over the trailers. The handler has ended.
func (w *writer) complete() {
	if !w.hijacked {
		w.sync()
	}
}

// sync makes the server's header the handler's.
func (w *writer) sync() { replace(w.server.Header(), w.header) }

func replace(dst, src http.Header) {
	clear(dst)
	maps.Copy(dst, src)
}

// Header returns the handler's header map.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader passes the status on. A 1xx is no answer yet: the deadline stands.
func (w *writer) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		if w.begin() {
			w.server.WriteHeader(status)
		}
		return
	}
	w.run.Unless(func(begun bool) {
		if begun {
			w.server.WriteHeader(status)
			return
		}
		w.sync()
		w.server.WriteHeader(status)
		replace(w.server.Header(), w.outer) // the final answer may be another's
	})
}

func (w *writer) Write(b []byte) (int, error) {
	if !w.begin() {
		return 0, http.ErrHandlerTimeout
	}
	return w.server.Write(b)
}

// WriteString spares a copy where the server's writer can.
func (w *writer) WriteString(s string) (int, error) {
	if !w.begin() {
		return 0, http.ErrHandlerTimeout
	}
	return io.WriteString(w.server, s)
}

// The methods that http.ResponseController looks for. It goes on looking
// below the server's writer as if it had been asked itself. There is no Unwrap:
// it would be a way past all this.

func (w *writer) SetReadDeadline(t time.Time) error {
	return w.control(func(c *http.ResponseController) error { return c.SetReadDeadline(t) })
}

func (w *writer) SetWriteDeadline(t time.Time) error {
	return w.control(func(c *http.ResponseController) error { return c.SetWriteDeadline(t) })
}

func (w *writer) EnableFullDuplex() error {
	return w.control(func(c *http.ResponseController) error { return c.EnableFullDuplex() })
}

func (w *writer) control(f func(*http.ResponseController) error) error {
	return w.unless(func() error { return f(http.NewResponseController(w.server)) })
}

// unless calls f unless the answer has been taken from the handler.
func (w *writer) unless(f func() error) error {
	err := http.ErrHandlerTimeout
	w.run.Unless(func(bool) { err = f() })
	return err
}

// flush sends what there is, the header at least.
func (w *writer) flush() error {
	if !w.begin() {
		return http.ErrHandlerTimeout
	}
	return http.NewResponseController(w.server).Flush()
}

func (w *writer) push(target string, opts *http.PushOptions) error {
	return w.unless(func() error { return w.server.(http.Pusher).Push(target, opts) })
}

func (w *writer) readFrom(r io.Reader) (int64, error) {
	if !w.begin() {
		return 0, http.ErrHandlerTimeout
	}
	return w.server.(io.ReaderFrom).ReadFrom(r)
}

// hijack hands the connection out. It counts as an answer in time, and the slot
// is held until the connection is closed.
func (w *writer) hijack() (net.Conn, *bufio.ReadWriter, error) {
	if !w.begin() {
		return nil, nil, http.ErrHandlerTimeout
	}
	conn, rw, err := http.NewResponseController(w.server).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.hijacked = true
	return hold(conn, w.permit.Done), rw, nil
}
