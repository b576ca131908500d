package wire

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// bodyHeld is how much of an answer without a declared length is held back to
// find out its length.
const bodyHeld = 2 << 10

// outMost is how much room for an answer's bytes a connection keeps.
const outMost = 8 << 10

// writer is the http.ResponseWriter of one plain request.
type writer struct {
	conn    *conn
	request *http.Request
	header  http.Header
	body    []byte // held back

	status int   // 0: not said yet
	left   int64 // of the declared length; -1: none was declared
	unsent int   // of the body that an answer to HEAD does not have
	begun  bool  // the header is in conn.out or gone
	direct bool  // what is written is sent at once
	chunks bool
	last   bool // the connection ends with this answer
	broken bool // what was written is no answer: the connection ends here
}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header {
	if w.header == nil {
		w.header = make(http.Header, 8)
	}
	return w.header
}

// WriteHeader implements http.ResponseWriter. Informational answers leave at once.
func (w *writer) WriteHeader(status int) {
	switch {
	case w.status != 0:
		return
	case status >= 100 && status < 200:
		w.Inform(status, w.header)
		return
	}
	w.status = status
	w.left = -1
	if v := w.header["Content-Length"]; len(v) > 0 {
		if n, ok := parseLength(v[0]); ok {
			w.left = n
		} else {
			delete(w.header, "Content-Length")
		}
	}
	switch {
	case status == http.StatusNotModified: // it describes an answer that is not here
		delete(w.header, "Content-Type")
		delete(w.header, "Content-Length")
		w.left = 0
	case status == http.StatusNoContent: // nor may it say how long that would be
		delete(w.header, "Content-Length")
		w.left = 0
	case w.head() && w.left >= 0:
		w.left = 0
	}
	if w.left >= 0 {
		w.begin()
	}
}

func (w *writer) head() bool { return w.request.Method == http.MethodHead }

// Inform sends an informational answer, such as 103, ahead of the answer.
func (w *writer) Inform(status int, h http.Header) {
	b := appendStatus(nil, status)
	for name, values := range h { // order does not matter: it is that of lines of different names
		if name == "Content-Length" || name == "Transfer-Encoding" {
			continue // it has no body, and nobody must wait for one
		}
		for _, v := range values {
			b = AppendField(b, name, v)
		}
	}
	w.fail(w.conn.send(append(b, '\r', '\n')))
}

// hasBody reports whether an answer of that status to that request has one.
func (w *writer) hasBody() bool {
	return !w.head() && w.status != http.StatusNoContent && w.status != http.StatusNotModified
}

// begin puts the header into the buffer: framing is known by now.
func (w *writer) begin() {
	w.begun = true
	w.chunks = w.left < 0
	b := appendStatus(w.conn.out[:0], w.status)
	for name, values := range w.header { // order does not matter: it is that of lines of different names
		switch {
		case name == "Transfer-Encoding" || strings.HasPrefix(name, http.TrailerPrefix):
			continue
		case name == "Connection":
			w.last = w.last || Named(values, "close")
			continue
		}
		if len(w.header["Trailer"]) > 0 && Named(w.header["Trailer"], name) {
			continue
		}
		for _, v := range values {
			b = AppendField(b, name, v)
		}
	}
	_, dated := w.header["Date"]
	w.conn.out = w.frame(b, dated)
}

// frame ends a header that is being put together.
func (w *writer) frame(b []byte, dated bool) []byte {
	if !dated {
		b = append(b, "Date: "...)
		b = append(b, *w.conn.server.date.Load()...)
		b = append(b, '\r', '\n')
	}
	if w.chunks {
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	if w.last = w.last || w.conn.server.draining.Load(); w.last {
		b = append(b, "Connection: close\r\n"...)
	}
	return append(b, '\r', '\n')
}

func appendStatus(b []byte, status int) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	if text := http.StatusText(status); text != "" {
		b = append(b, text...)
	} else { // as net/http says it
		b = append(b, "status code "...)
		b = strconv.AppendInt(b, int64(status), 10)
	}
	return append(b, '\r', '\n')
}

// Write implements http.ResponseWriter. A short answer is held back until its
// handler has returned, and is gone when what the handler did last is done.
func (w *writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.head():
		w.unsent += len(p)
		return len(p), nil
	case !w.hasBody():
		return 0, http.ErrBodyNotAllowed
	}
	if !w.begun {
		if len(w.body)+len(p) <= bodyHeld {
			w.body = append(w.body, p...)
			return len(p), nil
		}
		w.Flush()
	}
	if out := w.conn.out; !w.direct && !w.chunks && int64(len(p)) <= w.left && len(out)+len(p) <= outMost {
		w.conn.out = append(out, p...)
		w.left -= int64(len(p))
		return len(p), nil
	}
	if err := w.emit(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Pass begins an answer with the lines of another, which are the first of its
// header, and what Header has besides. What is written of its body from then on is
// sent at once. length is that of the body, -1 if it is not known.
func (w *writer) Pass(status int, fields []Field, length int64) {
	h := w.header
	w.status, w.begun, w.direct, w.left = status, true, true, length
	if !w.hasBody() {
		w.left = 0
	}
	w.chunks = w.left < 0
	b := appendStatus(w.conn.out[:0], status)
	dated := false
	for _, f := range fields {
		b = AppendField(b, f.Name, f.Value)
		dated = dated || f.Is("Date")
	}
	if c := h["Connection"]; c != nil {
		w.last = w.last || Named(c, "close")
		delete(h, "Connection")
	}
	w.conn.out = w.frame(AppendHeader(b, h), dated)
}

// emit sends part of the body, after whatever waits in the buffer.
func (w *writer) emit(p []byte) error {
	out := w.conn.out
	switch {
	case w.broken:
		return io.ErrClosedPipe
	case len(p) == 0 && len(out) == 0:
		return nil
	case w.chunks && len(p) > 0:
		out = strconv.AppendInt(out, int64(len(p)), 16)
		out = append(out, '\r', '\n')
	case int64(len(p)) > w.left && !w.chunks:
		w.broken = true
		return http.ErrContentLength
	default:
		w.left -= int64(len(p))
	}
	tail := ""
	if w.chunks && len(p) > 0 {
		tail = "\r\n"
	}
	var err error
	if len(out)+len(p)+len(tail) <= outMost {
		out = append(append(out, p...), tail...)
		err = w.conn.send(out)
	} else {
		err = w.conn.send(out, p, []byte(tail))
	}
	w.conn.out = out[:0]
	w.fail(err)
	return err
}

func (w *writer) fail(err error) { w.broken = w.broken || err != nil }

// Flush implements http.Flusher.
func (w *writer) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.begun {
		if w.head() {
			w.left = 0
		}
		w.begin()
	}
	held := w.body
	w.body = nil
	w.emit(held)
}

// finish sends what is left of an answer, and reports whether the connection can
// take another request.
func (w *writer) finish() bool {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.begun {
		w.left = int64(len(w.body))
		if n := len(w.body) + w.unsent; !w.head() || n > 0 && n <= bodyHeld {
			w.Header()["Content-Length"] = []string{strconv.Itoa(n)}
		}
		w.begin()
	}
	if held := w.body; len(held) > 0 || len(w.conn.out) > 0 && !w.chunks {
		w.emit(held)
	}
	if w.chunks && !w.broken {
		out := append(w.conn.out, "0\r\n"...)
		out = w.trailer(out)
		w.fail(w.conn.send(append(out, '\r', '\n')))
		w.conn.out = out[:0]
	}
	if cap(w.conn.out) > 2*outMost {
		w.conn.out = nil
	}
	return !w.broken && !w.last && (w.chunks || w.left == 0)
}

// trailer appends the fields that were announced in Trailer, or are named with
// http.TrailerPrefix.
func (w *writer) trailer(b []byte) []byte {
	announced := w.header["Trailer"]
	for name, values := range w.header { // order does not matter: as above
		plain, unannounced := strings.CutPrefix(name, http.TrailerPrefix)
		if !unannounced && (len(announced) == 0 || !Named(announced, name)) {
			continue
		}
		for _, v := range values {
			b = AppendField(b, plain, v)
		}
	}
	return b
}

// What http.ResponseController looks for.

// EnableFullDuplex does nothing: the request has been read.
func (w *writer) EnableFullDuplex() error { return nil }

// SetReadDeadline does nothing: the request has been read.
func (w *writer) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline bounds the writing of the answer, which is then the last of its
// connection. It may be called while the handler works.
func (w *writer) SetWriteDeadline(t time.Time) error {
	w.conn.bounded.Store(true)
	return w.conn.Conn.SetWriteDeadline(t)
}
