package httpgate

import (
	"log"
	"net/http"
	"runtime/debug"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/internal/handling"
	"github.com/spillway-dev/spillway/policy/reason"
)

// call is one admitted request on its way through a handler.
type call struct {
	permit  gate.Permit
	run     *handling.Run
	writer  writer
	request *http.Request // as the handler sees it

	// What a refusal's answer needs of the request, whose header the handler
	// may be busy with.
	proto                   int
	method, id, contentType string
}

func newCall(permit gate.Permit, w http.ResponseWriter, r *http.Request) *call {
	c := &call{
		permit: permit,
		proto:  r.ProtoMajor, method: r.Method, id: r.Header.Get(HeaderRequestID), contentType: r.Header.Get("Content-Type"),
	}
	run, ctx := handling.New(r.Context(), permit)
	c.run, c.request = run, r.WithContext(ctx)
	c.writer.open(run, permit, w)
	return c
}

// serve runs the handler and returns when its answer is complete, or when its
// caller has been told that there is none in time.
func (c *call) serve(h http.Handler, overdue <-chan gate.Refusal) {
	c.run.Go(func() { h.ServeHTTP(c.writer.shown, c.request) }, c.writer.first, c.settle)
	e, refused := c.run.Wait(overdue)
	if refused.Reason != reason.None {
		c.answer(refused)
		return
	}
	e.Resume()
	c.writer.complete()
}

// answer tells the caller that there is no answer in time. The connection is not
// used again: what the handler does with the request's body is its own affair
// still.
func (c *call) answer(refused gate.Refusal) {
	w := c.writer.server
	replace(w.Header(), c.writer.outer)
	if c.proto == 1 {
		w.Header().Set("Connection", "close")
	}
	Answer(w, &http.Request{
		Method: c.method, ProtoMajor: c.proto,
		Header: http.Header{HeaderRequestID: {c.id}, "Content-Type": {c.contentType}},
	}, refused)
}

// settle finishes the permit of a handler that has ended. A connection that was
// handed out finishes it itself.
func (c *call) settle(e handling.Ending, inTime bool) {
	if f := c.request.MultipartForm; f != nil {
		f.RemoveAll() // the server looks only at the request that it made
	}
	switch {
	case c.writer.hijacked:
	case e.Broken:
		c.permit.Finish(reason.Failed)
	default:
		c.permit.Finish(reason.Served)
	}
	if e.Value != nil && e.Value != http.ErrAbortHandler {
		c.log(e.Value, debug.Stack())
	}
}

// log writes what the server would, were the handler on its goroutine: the stack
// is lost to whoever recovers the panic there.
func (c *call) log(value any, stack []byte) {
	printf := log.Printf
	if s, ok := c.request.Context().Value(http.ServerContextKey).(*http.Server); ok && s.ErrorLog != nil {
		printf = s.ErrorLog.Printf
	}
	printf("httpgate: panic in the handler of %s: %v\n%s", c.request.RemoteAddr, value, stack)
}
