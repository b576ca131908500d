package jobs

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Writer is where the answer of a request goes that is kept: up to a bound into memory,
// and to its caller where it has one. It is used by one goroutine.
type Writer struct {
	header http.Header
	status int
	body   []byte
	most   int64 // bytes that are kept
	over   bool  // there were more

	to     http.ResponseWriter // its caller; nil: it has none
	passed bool                // what was kept back has been given to it

	begin func() error
	begun bool
	sent  atomic.Bool

	claim func(*gate.Request)
	again bool // it was sent before under the same key
}

// errTooLarge ends an answer that nobody waits for and that is not kept either.
var errTooLarge = errors.New("the answer is larger than what is kept of one")

// Watch returns the context for the request, in which is seen whether any of it was sent.
func (w *Writer) Watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { w.sent.Store(true) }})
}

// Begin writes the start marker: the request has the right to run and is about to be
// sent. An error says that it must not be.
func (w *Writer) Begin() error {
	err := w.begin()
	w.begun = err == nil
	return err
}

// Alone reports that nobody waits for the answer: a cheaper one is of no use, since the
// job can wait.
func (w *Writer) Alone() bool { return w.to == nil }

// Claim puts what is known of a job's request in the place of what it claims itself.
func (w *Writer) Claim(q *gate.Request) {
	if w.claim != nil {
		w.claim(q)
	}
}

// Header implements http.ResponseWriter.
func (w *Writer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *Writer) WriteHeader(status int) {
	if status < 200 || w.status != 0 {
		return
	}
	w.status = status
}

// Write implements http.ResponseWriter.
func (w *Writer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.passed {
		w.to.Write(p) // that its caller has gone changes nothing
	}
	if w.over {
		return len(p), nil
	}
	if int64(len(w.body)+len(p)) <= w.most {
		w.body = append(w.body, p...)
		return len(p), nil
	}
	w.over = true
	if w.to == nil {
		return 0, errTooLarge
	}
	if !w.passed {
		w.give()
		w.to.Write(p)
	}
	w.body = nil
	return len(p), nil
}

// Flush implements http.Flusher: what is flushed is a stream, and its caller is not kept
// waiting for its end.
func (w *Writer) Flush() {
	if w.to == nil {
		return
	}
	w.give()
	http.NewResponseController(w.to).Flush()
}

// give gives the caller what was kept back.
func (w *Writer) give() {
	if w.passed || w.to == nil || w.status == 0 {
		return
	}
	w.passed = true
	h := w.to.Header()
	for name, values := range w.header {
		h[name] = values
	}
	w.to.WriteHeader(w.status)
	w.to.Write(w.body)
}

// outcome is what the attempt has come to, after which the request was served, or its
// handler broke off.
func (w *Writer) outcome(brokeOff bool) call.Outcome {
	own := w.header.Get(httpgate.HeaderRung) != httpgate.RungPrimary
	switch {
	case brokeOff && !w.over, w.status == 0:
		return w.lost()
	case !own:
		return httpgate.OutcomeOf(&http.Response{StatusCode: w.status, Header: w.header}, w.again)
	}
	o := call.ReadPushback(w.header.Get, now()).Outcome(call.Neutral)
	switch why, _ := reason.Parse(w.header.Get(httpgate.HeaderReason)); {
	case why == reason.BreakerOpen:
		o.Result = call.Unsent
	case why.AtAdmission():
		o.Result = call.Refused
	case why.Kind() == reason.KindCall:
		return w.lost()
	}
	return o
}

// lost is what it has come to without an answer.
func (w *Writer) lost() call.Outcome {
	if w.sent.Load() {
		return call.Outcome{Result: call.Broken}
	}
	return call.Outcome{Result: call.Unsent}
}
