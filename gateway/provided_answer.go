package gateway

import (
	"io"
	"net/http"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/provider"
)

// watch has an answer that is a success watched as it passes.
func (x *priced) watch(e *exchange, res *http.Response) {
	for name := range res.Header { // whatever the order
		if ours(name) {
			delete(res.Header, name)
		}
	}
	if x.known || res.StatusCode >= http.StatusBadRequest {
		return
	}
	x.answer = x.call.Answer(res.Header)
	if x.answer.Changes() {
		delete(res.Header, "Content-Length")
		res.ContentLength = -1
	}
	res.Body = &watched{e: e, src: res.Body}
}

// watched is the body of an answer that is watched. Where the service breaks a stream
// off, its caller is told so in a frame that it understands, and not by a connection
// that ends.
type watched struct {
	e    *exchange
	src  io.ReadCloser
	left []byte // to be given
	err  error  // after that
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	for len(w.left) == 0 && w.err == nil {
		n, err := w.src.Read(p)
		a := w.e.priced.answer
		w.left = a.Pass(p[:n])
		if err != nil {
			w.end(a, err)
		}
		if k := len(w.left); k > 0 && k <= len(p) && &w.left[0] == &p[0] {
			w.left = nil // it is where it belongs
			return k, w.last()
		}
	}
	n := copy(p, w.left)
	w.left = w.left[n:]
	return n, w.last()
}

func (w *watched) last() error {
	if len(w.left) > 0 {
		return nil
	}
	return w.err
}

// end takes that nothing more comes.
func (w *watched) end(a *provider.Answer, err error) {
	x, end := w.e.priced, provider.AtEnd
	switch {
	case err == io.EOF:
		w.err = io.EOF
		w.left = append(w.left[:len(w.left):len(w.left)], a.Rest()...)
	case w.e.cutByUs():
		end, w.err = provider.CutByUs, err
	default:
		end, w.err = provider.Broke, err
		if frame := a.Failure(); frame != nil {
			w.left, w.err = append(w.left[:len(w.left):len(w.left)], frame...), io.EOF
		}
	}
	s := a.End(end)
	if w.e.mine && s.Failed {
		w.e.outcome = reason.Failed
		w.e.keep.Drop()
		w.e.keep = nil
	}
	x.conclude(s)
}

// Close implements io.Closer.
func (w *watched) Close() error { return w.src.Close() }

// saidAll reports whether the answer has said that it is over: then it is served,
// whatever its caller does from then on.
func (x *exchange) saidAll() bool {
	p := x.priced
	return p != nil && p.answer != nil && p.answer.Whole() && x.outcome == reason.Served
}
