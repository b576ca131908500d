package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/http/httputil"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/deadline"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/gateway/copies"
	"github.com/spillway-dev/spillway/gateway/edge"
	"github.com/spillway-dev/spillway/gateway/rungs"
	"github.com/spillway-dev/spillway/gateway/steer"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Why a call to the upstream was cut.
var (
	errCallerGone  = errors.New("the caller hung up")
	errAnswered    = errors.New("the caller was answered at its deadline")
	errHeldLong    = errors.New("abandoned work was held for as long as it may be")
	errCallTimeout = errors.New("the call took longer than it may")
	errIdle        = errors.New("nothing moved for as long as it may")
	errStopping    = errors.New("the gateway is stopping")
)

// exchange is one admitted request: the call to the upstream and the answer.
//
// It has one owner at a time. That is the handler's goroutine, until it leaves
// before the upstream has answered; from then on it is the goroutine of the
// call. The hand-over is the one compare-and-swap on state, and with it goes
// the duty to finish the permit.
type exchange struct {
	gateway *Gateway
	class   *class
	w       http.ResponseWriter
	in      *http.Request
	permit  gate.Permit
	offered unit.Instant
	granted unit.Instant
	named   bool // the caller named a deadline
	secure  bool // it speaks TLS, to us or to a proxy that is trusted

	gap       shed.Gap    // of what is below the primary
	partition string      // whose answers are its own, where the class keeps any
	keep      *rungs.Copy // of the answer, while it passes; nil: it is not kept
	bucket    string      // in which its gap is learned
	sample    *sample     // for that; nil: it is none

	*overdue
	// The copy that is called; see upstream.
	copy   atomic.Pointer[copies.Copy]
	heard  unit.Instant // when it was known what came of it
	moves  int          // to another copy
	judged bool
	// The call was made in more than one attempt; see calls.
	several bool
	// unsent: nothing of the call has reached the upstream. ended: all of its answer
	// has come. See quota.go.
	unsent, ended bool

	// Ladders; see descend.go.
	step   *descent // that this is an upstream's part of; nil: it is the primary's
	missed bool     // it has no answer, and the next step is its handler's
	after  *descent // that the handler goes on with when this is over; nil: none

	// A plain call; see there.
	hold     hold
	timedOut atomic.Bool // the call took longer than it may
	direct   bool        // what is written of the answer leaves at once

	priced *priced // by what it costs at a provider; nil: it goes to none

	// Any other.
	*detour
	cancel context.CancelCauseFunc
	upload *upload

	body    *flow // nil until an answer flows
	whole   bool  // all of it had come with its header
	flowing flow
	cap     *time.Timer // set when the handler leaves

	// The handler's alone.
	mine    bool // to finish the permit
	outcome reason.Reason

	note *note         // for the recording; nil: there is none
	told reason.Reason // what the caller was told while the call went on
}

// detour is what only a call by net/http needs.
type detour struct {
	state   atomic.Int32 // calling, then answered or left
	out     *http.Request
	sending sending
	proxy   httputil.ReverseProxy
}

const (
	calling int32 = iota
	answered
	left
)

// answer is what came of a call.
type answer struct {
	res *http.Response
	err error
}

// refusedError carries a refusal through the proxy to its error handler.
type refusedError struct{ gate.Refusal }

func (e *refusedError) Error() string { return e.Refusal.Error() }

// serve calls the upstream and answers the caller.
func (x *exchange) serve() {
	if x.class.upstream.provided != nil && !x.mayBeSent() {
		return
	}
	if !x.take() {
		defer x.finish()
		x.unsent = true
		x.failed(x.w, x.in, errNoCopy)
		return
	}
	if err := x.markStart(); err != nil {
		defer x.finish()
		x.failed(x.w, x.in, err)
		return
	}
	if body, ok := x.plain(); ok {
		x.servePlain(body)
		return
	}
	defer x.finish()
	x.detour = new(detour)
	x.proxy.Rewrite = silence
	x.proxy.Transport = x
	x.proxy.BufferPool = buffers
	x.proxy.ErrorLog = x.gateway.quiet
	x.proxy.ModifyResponse = x.markAnswer
	x.proxy.ErrorHandler = x.failed
	x.proxy.ServeHTTP(x.w, x.in)
}

// rewrite makes the caller's request the upstream's.
func (x *exchange) rewrite(out *http.Request) {
	pr := httputil.ProxyRequest{In: x.in, Out: out}
	out.URL.RawQuery = x.in.URL.RawQuery // as it was sent: the proxy strikes off what it cannot parse
	direct(&pr, x.copy.Load().Base())
	forwarded(&pr, x.secure)
	if x.class.passDeadline {
		deadline.Write(out.Header, x.permit.Remaining(), isGRPC(x.in), x.named)
	}
}

// RoundTrip implements http.RoundTripper for the proxy. It returns when the
// upstream has answered, the deadline has passed, or the caller is gone,
// whichever is first.
func (x *exchange) RoundTrip(out *http.Request) (*http.Response, error) {
	x.rewrite(out)
	ctx := x.in.Context()
	if !x.class.cancel {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, x.cancel = context.WithCancelCause(ctx)
	x.out = out.WithContext(x.sending.trace(ctx, out, x.class.calls != nil))
	if x.priced != nil {
		x.priced.dress(x.out, x.gateway.current.Load().trust)
	} else if out.Body != nil {
		x.upload = newUpload(x.in, x.out)
		x.out.Body = x.upload
	}
	if x.class.cancel {
		return x.callInTime()
	}
	run := x.gateway.runners.get()
	x.listen(&run.bell)
	run.todo <- x

	var timeout <-chan time.Time
	if t := x.class.timeout; t > 0 && t < x.permit.Remaining() {
		timer := time.NewTimer(t)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case a := <-run.came:
		return x.arrived(run, a)
	case <-run.bell:
		x.judge(spread.Late)
		return nil, x.leave(run, *x.late.Load(), errAnswered)
	case <-timeout:
		x.judge(spread.Late)
		x.permit.Abandon(reason.Timeout)
		return nil, x.leave(run, gate.Refusal{Reason: reason.Timeout, Class: x.class.name}, errAnswered)
	case <-x.in.Context().Done():
		x.permit.Abandon(reason.CallerGone)
		return nil, x.leave(run, gate.Refusal{Reason: reason.CallerGone, Class: x.class.name}, errCallerGone)
	}
}

// callInTime makes a call that is cut when its deadline passes or its caller
// goes, and so needs no goroutine of its own: the transport returns then.
func (x *exchange) callInTime() (*http.Response, error) {
	bell := make(chan struct{}, 1)
	x.listen(&bell)
	x.cut.Store(&x.cancel)
	var timer *time.Timer
	if t := x.class.timeout; t > 0 && t < x.permit.Remaining() {
		timer = time.AfterFunc(t, func() { x.cancel(errCallTimeout) })
	}
	if x.late.Load() != nil {
		x.cancel(errAnswered) // it passed before there was anything to cut
	}
	a := x.class.upstream.call(x)
	timedOut := timer != nil && !timer.Stop() // then an answer that came at the same moment is cut as well
	if timedOut {
		x.judge(spread.Late)
	}
	x.judgeAnswer(a)
	if a.err == nil && !timedOut {
		if x.permit.Answered() {
			x.beginAnswer(a.res)
			return a.res, nil
		}
		<-bell
	}
	if a.err == nil {
		a.res.Body.Close()
	}
	if refused := x.late.Load(); refused != nil {
		return nil, &refusedError{*refused}
	}
	if timedOut {
		x.permit.Abandon(reason.Timeout)
		return nil, &refusedError{gate.Refusal{Reason: reason.Timeout, Class: x.class.name}}
	}
	return nil, a.err
}

// arrived takes the upstream's answer for the caller.
func (x *exchange) arrived(run *runner, a answer) (*http.Response, error) {
	x.judgeAnswer(a)
	if a.err != nil {
		run.dismiss()
		if refused := x.late.Load(); refused != nil {
			return nil, &refusedError{*refused}
		}
		return nil, a.err
	}
	if !x.permit.Answered() { // its deadline passed at the same moment, and is on the account
		<-run.bell
		run.came <- a
		return nil, x.leave(run, *x.late.Load(), errAnswered)
	}
	x.gateway.runners.put(run)
	x.beginAnswer(a.res)
	return a.res, nil
}

func (x *exchange) judgeAnswer(a answer) {
	if a.err != nil {
		x.judgeCall(0, a.err)
		return
	}
	x.judgeCall(a.res.StatusCode, nil)
}

// leave ends the handler's part before the upstream has answered. The call goes
// on and holds its slot until it ends, unless it cannot end well: a body that
// was cut off halfway is no request.
func (x *exchange) leave(run *runner, why gate.Refusal, cause error) error {
	x.mine, x.told = false, why.Reason
	if x.upload != nil && !x.upload.detach(x.interrupt) {
		x.sever(cause)
	}
	x.cap = time.AfterFunc(x.class.holdAtMost, func() { x.sever(errHeldLong) })
	x.gateway.abandon(x)
	if !x.state.CompareAndSwap(calling, left) {
		run.dismiss()
		go x.settle(<-run.came)
	}
	return &refusedError{why}
}

// settle ends an exchange whose caller was answered or is gone.
func (x *exchange) settle(a answer) {
	why, known := reason.Failed, false
	if a.err == nil {
		why = outcomeOf(a.res.StatusCode)
		if x.priced != nil {
			x.priced.watch(x, a.res)
		}
		known = discard(a.res.Body, x.cancel)
	}
	x.cap.Stop()
	x.cancel(nil)
	x.give()
	x.settlePriced()
	x.spent(known, why)
	x.permit.Finish(why)
	x.record(why)
	x.gateway.forget(x)
}

// mark says on the upstream's answer what it is.
func (x *exchange) mark(status int, h http.Header) {
	h[httpgate.HeaderRung] = x.rung()
	h[httpgate.HeaderReason] = x.said(status)
	sign(h, x.in)
	if x.gateway.loads.Load() {
		h[steer.LoadHeader] = []string{x.gateway.board.Load()}
	}
	x.gateway.expose(h, x.in)
}

// said takes in the status that the upstream answered with, and returns the reason
// that its answer bears.
func (x *exchange) said(status int) []string {
	x.outcome = outcomeOf(status)
	switch {
	case x.step != nil:
		return x.step.said(x.gateway, x.in)
	case x.outcome == reason.Failed:
		x.class.seen.Passed.Add(1)
		return reasonFailed
	case x.class.ladder != nil:
		x.gateway.answeredBy(x.in, x.class, -1, x.gap, reason.Served)
	}
	return reasonServed
}

// markAnswer does so on its way through the proxy.
func (x *exchange) markAnswer(res *http.Response) error {
	if x.class.ladder != nil || x.step != nil {
		if err := x.look(res.StatusCode, res.Header, res.ContentLength); err != nil {
			return err
		}
	}
	x.mark(res.StatusCode, res.Header)
	if x.upload != nil && x.in.ProtoMajor == 1 && !x.upload.complete() {
		// What is left of the body would be read as the next request.
		res.Header["Connection"] = []string{"close"}
	}
	x.hand(res)
	return nil
}

// outcomeOf returns the reason of an answer that the upstream gave. A server
// error is passed on as it is, and is a failure all the same: a service that
// fails fast must not look like a fast service.
func outcomeOf(status int) reason.Reason {
	if status >= http.StatusInternalServerError {
		return reason.Failed
	}
	return reason.Served
}

// failed answers a caller whom the upstream did not answer.
func (x *exchange) failed(w http.ResponseWriter, out *http.Request, err error) {
	if x.upload != nil {
		x.upload.detach(x.interrupt)
	}
	if refused, ok := errors.AsType[*refusedError](err); ok {
		if x.mine {
			x.told = refused.Reason
		}
		if refused.Reason == reason.CallerGone {
			panic(http.ErrAbortHandler) // nobody is there, and nothing must look like an answer
		}
		x.refuse(w, refused.Refusal)
		return
	}
	if replaced, ok := errors.AsType[*replacedError](err); ok {
		x.replace(replaced)
		return
	}
	if _, ok := err.(missedError); ok {
		x.discardRest()
		x.missed = true
		return
	}
	why := reason.Failed
	switch {
	case x.in.Context().Err() != nil:
		x.outcome = reason.CallerGone
		panic(http.ErrAbortHandler)
	case x.upload != nil && errors.Is(x.upload.failed(), edge.ErrTooLarge):
		why = reason.TooLarge
	case x.upload != nil && x.upload.failed() != nil:
		why = reason.BadRequest // the caller's body broke off or was malformed
	case x.outOfTime():
		why = reason.Timeout
	}
	x.outcome = why
	x.gateway.log.failed(x, err)
	x.refuse(w, gate.Refusal{Reason: why, Class: x.class.name})
}

// outOfTime reports that a call which breaks off now has met its deadline. That travels
// on in milliseconds, rounded down, so that an upstream that keeps to it gives up a little
// before it passes here; to call that a failure would be to punish it.
func (x *exchange) outOfTime() bool {
	return x.class.passDeadline && x.permit.Governed() && x.permit.Remaining() < roundedDown
}

// roundedDown is what rounding takes from a deadline, and what it takes to hear of it.
const roundedDown = 2 * time.Millisecond

// refuse answers with a stand-in, or where there is none with the refusal.
func (x *exchange) refuse(w http.ResponseWriter, r gate.Refusal) {
	if x.below(r) {
		return
	}
	if x.several {
		w.Header()[headerShouldRetry] = noRetry
	}
	x.gateway.refuse(w, x.in, x.class, r)
}

// complete gives the slot back once the upstream has said all it had to say;
// the caller may go on reading.
func (x *exchange) complete() {
	if x.mine {
		x.mine = false
		x.give()
		x.settlePriced()
		at := unit.Instant(0)
		if x.whole {
			at = x.heard
		}
		x.spent(x.ended, x.outcome)
		x.permit.FinishAt(at, boundary.Outcome{Reason: x.outcome})
		x.record(x.outcome)
	}
}

// finish ends the handler's part, however it ended: return, panic, hijack.
func (x *exchange) finish() {
	x.keep.Drop()
	if x.body != nil {
		x.body.Close()
	}
	if x.mine && x.body != nil && !x.body.switched && !x.saidAll() {
		x.outcome = reason.CallerGone // the answer was not taken to its end
		if x.body.err != nil && x.in.Context().Err() == nil {
			x.outcome = reason.Failed // or not given
		}
	}
	if x.upload != nil && !x.upload.detach(x.interrupt) && unread(x.in) && x.after == nil {
		x.interrupt() // net/http reads on before it closes, and must not wait
	}
	if x.mine && x.cancel != nil {
		x.cancel(nil)
	}
	if x.mine {
		x.hold.Close()
	}
	x.complete()
	x.gateway.compare(x.sample)
}

// sever ends the call, whatever it is doing.
func (x *exchange) sever(cause error) {
	if x.cancel != nil {
		x.cancel(cause)
	}
	x.hold.cut()
}

// interrupt makes a read of the caller's body return.
func (x *exchange) interrupt() {
	http.NewResponseController(x.w).SetReadDeadline(pastDeadline)
}

// cutIdle ends a flow in which nothing moves: the upstream's side, and the
// caller's, who may be what it is waiting for.
func (x *exchange) cutIdle() {
	x.sever(errIdle)
	if x.body.switched {
		x.body.src.Close()
		if c := connOf(x.in); c != nil {
			c.SetDeadline(pastDeadline)
		}
		return
	}
	http.NewResponseController(x.w).SetWriteDeadline(pastDeadline)
}
