package httpgate

import (
	"context"
	"log"
	"net/http"
	"runtime"
	"runtime/debug"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// call is one admitted request on its way through a handler. Two goroutines
// share it: the handler's, which owns the answer from its first byte on, and the
// server's, which owns it until then if the deadline passes.
type call struct {
	permit   gate.Permit
	writer   writer
	request  *http.Request // as the handler sees it
	deadline *deadline
	cancel   context.CancelFunc
	ended    chan ending

	// What a refusal's answer needs of the request, whose header the handler
	// may be busy with.
	proto                   int
	method, id, contentType string
}

// ending is how a handler ended.
type ending struct {
	value any  // of its panic
	panic bool // or runtime.Goexit, if there is no value
}

func newCall(permit gate.Permit, w http.ResponseWriter, r *http.Request) *call {
	c := &call{
		permit: permit, ended: make(chan ending, 1),
		proto: r.ProtoMajor, method: r.Method, id: r.Header.Get("X-Request-Id"), contentType: r.Header.Get("Content-Type"),
	}
	var ctx context.Context
	c.deadline, ctx, c.cancel = newDeadline(r.Context(), permit.Deadline())
	c.request = r.WithContext(ctx)
	c.writer.open(c, w)
	return c
}

// run runs the handler on a goroutine of its own and returns when its answer is
// complete, or when its caller has been told that there is none in time.
func (c *call) run(h http.Handler, overdue <-chan gate.Refusal) {
	go c.handle(h)
	gone := c.deadline.Context.Done()
	for {
		select {
		case e := <-c.ended:
			c.finish(e)
			return
		case refused := <-overdue:
			if c.writer.shut() {
				c.deadline.end(context.DeadlineExceeded)
				c.answer(refused)
				return
			}
		case <-gone:
			gone = nil
			err := c.deadline.Context.Err()
			if err == context.Canceled {
				c.writer.hangUp()
				c.permit.Abandon(reason.CallerGone)
			}
			c.deadline.end(err)
		}
	}
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
		Header: http.Header{"X-Request-Id": {c.id}, "Content-Type": {c.contentType}},
	}, refused)
}

// finish completes the answer of a handler that has ended before its deadline,
// or after it began to answer.
func (c *call) finish(e ending) {
	switch {
	case e.value != nil:
		panic(e.value)
	case e.panic:
		runtime.Goexit()
	}
	c.writer.complete()
}

// handle runs the handler and finishes the permit, whatever the handler does.
func (c *call) handle(h http.Handler) {
	e := ending{panic: true} // what stands if the handler does not return
	defer func() {
		if e.panic {
			e.value = recover()
		}
		c.cleanUp(e)
	}()
	h.ServeHTTP(c.writer.shown, c.request)
	e.panic = false
}

func (c *call) cleanUp(e ending) {
	c.cancel()
	if f := c.request.MultipartForm; f != nil {
		f.RemoveAll() // the server looks only at the request that it made
	}
	inTime := c.writer.begin() // an empty answer is one, and must be in time like any other
	switch {
	case c.writer.hijacked:
		// The connection that was handed out finishes the permit.
	case e.panic:
		c.permit.Finish(reason.Failed)
	default:
		c.permit.Finish(reason.Served)
	}
	if e.value != nil && e.value != http.ErrAbortHandler {
		c.log(e.value, debug.Stack())
	}
	if inTime {
		c.ended <- e
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
