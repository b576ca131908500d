package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/resend"
	"github.com/spillway-dev/spillway/gateway/wire"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/spread"
)

// A plain call is one that needs nothing of net/http: a request whose body, if it
// has one, is in memory, to an upstream that speaks HTTP/1.1 without TLS. It is
// made on the handler's goroutine, on a connection that is its own while it lasts.
// Nearly all calls are plain; what it does is what serve does for all others.

// plain reports whether the request can be made as a plain call, and returns its
// body.
func (x *exchange) plain() (body []byte, ok bool) {
	if x.class.calls != nil || x.priced != nil || x.gateway.opts.LongWay || x.copy.Load().Plain() == nil {
		return nil, false
	}
	if _, ok := x.w.(passer); ok { // then so was the request
		return wire.HeldBody(x.in)
	}
	h := x.in.Header
	if h["Upgrade"] != nil || h["Expect"] != nil || h["Te"] != nil || x.in.Trailer != nil || isGRPC(x.in) || x.in.URL.Path == "*" {
		return nil, false
	}
	return wire.HeldBody(x.in)
}

// servePlain calls the upstream and answers the caller.
func (x *exchange) servePlain(body []byte) {
	defer x.finish()
	a, err := x.callPlain(body)
	if err != nil {
		x.failed(x.w, x.in, err)
		return
	}
	if x.class.ladder != nil || x.step != nil {
		if err := x.look(a.Status, x.headerOf(a), a.Length); err != nil {
			x.failed(x.w, x.in, err)
			return
		}
	}
	x.begin(&x.hold, false)
	if err := x.pass(a); err != nil {
		panic(http.ErrAbortHandler) // half an answer must not look like one
	}
}

// callPlain makes the call and returns the answer, or why there is none for the
// caller: it broke, or its deadline or its caller's patience came first.
func (x *exchange) callPlain(body []byte) (wire.Answer, error) {
	if t := x.class.timeout; t > 0 && t < x.permit.Remaining() {
		timer := time.AfterFunc(t, x.timeOut)
		defer timer.Stop()
	}
	conn, err := x.connect(false)
	for err != nil && !x.timedOut.Load() && x.another(err) {
		conn, err = x.connect(false)
	}
	if err != nil {
		return wire.Answer{}, x.unconnected(err)
	}
	x.overdue.plain.Store(&x.hold)
	stop := afterFunc(x.in.Context(), x.hold.interrupt)
	defer stop()

	a, err := x.ask(conn, body)
	if err != nil && err != wire.ErrInterrupted && conn.Stale() && resend.Safe(x.in.Method) && len(body) == 0 {
		x.gateway.resent()
		x.hold.disarm()
		conn.Cut()
		if conn, err = x.connect(true); err != nil {
			return a, x.unconnected(err)
		}
		a, err = x.ask(conn, body)
	}
	x.hold.disarm()
	if err == wire.ErrInterrupted && x.timedOut.Load() {
		x.judge(spread.Late)
	}
	if err == nil {
		return a, x.answeredPlain(&a)
	}
	x.judgeCall(0, err)
	if err == wire.ErrInterrupted {
		return a, x.interrupted()
	}
	x.hold.cut()
	if refused := x.late.Load(); refused != nil {
		return a, &refusedError{*refused}
	}
	return a, err
}

// answeredPlain takes an answer for the caller.
func (x *exchange) answeredPlain(a *wire.Answer) error {
	at, inTime := x.permit.AnsweredAt()
	x.heard = at
	x.judgeCall(a.Status, nil)
	if inTime {
		return nil
	}
	bell := make(chan struct{}, 1) // its deadline passed at the same moment, and is on the account
	x.listen(&bell)
	<-bell
	return x.leavePlain(*x.late.Load(), a)
}

// afterFunc is context.AfterFunc, without what that makes for a context that can
// do it itself.
func afterFunc(ctx context.Context, f func()) (stop func() bool) {
	if own, ok := ctx.(interface {
		AfterFunc(func()) func() bool
	}); ok {
		return own.AfterFunc(f)
	}
	return context.AfterFunc(ctx, f)
}

// timeOut ends the call because it takes longer than it may, wherever it is.
func (x *exchange) timeOut() {
	x.timedOut.Store(true)
	x.hold.interrupt()
	if cut := x.overdue.cut.Load(); cut != nil {
		(*cut)(errCallTimeout)
	}
}

// unconnected ends a call for which no connection could be made in time.
func (x *exchange) unconnected(err error) error {
	switch refused := x.late.Load(); {
	case refused != nil:
		err = &refusedError{*refused}
	case x.timedOut.Load():
		x.judge(spread.Late)
		x.permit.Abandon(reason.Timeout)
		return &refusedError{gate.Refusal{Reason: reason.Timeout, Class: x.class.name}}
	}
	x.judgeCall(0, err)
	return err
}

// connect holds a connection to the upstream. A new one is not waited for longer
// than for the answer: nothing has been sent, and nothing goes on.
func (x *exchange) connect(anew bool) (*wire.Conn, error) {
	pool := x.copy.Load().Plain()
	if !anew {
		if c := pool.Idle(); c != nil {
			x.hold.take(c)
			return c, nil
		}
	}
	ctx, cancel := context.WithCancelCause(x.in.Context())
	defer cancel(nil)
	x.overdue.cut.Store(&cancel)
	if x.late.Load() != nil || x.timedOut.Load() {
		cancel(errAnswered)
	}
	c, err := pool.Connect(ctx)
	x.overdue.cut.Store(nil)
	if err != nil {
		return nil, err
	}
	x.hold.take(c)
	return c, nil
}

// ask sends the request and returns the header of its answer. Informational
// answers are passed on as they come.
func (x *exchange) ask(conn *wire.Conn, body []byte) (wire.Answer, error) {
	if x.late.Load() != nil || x.timedOut.Load() || x.in.Context().Err() != nil {
		x.hold.interrupt() // it came before there was anything to interrupt
	}
	if err := conn.Send(x.appendRequest(conn.Buffer(), body)); err != nil {
		return wire.Answer{}, err
	}
	for {
		if err := conn.Await(); err != nil {
			return wire.Answer{}, err
		}
		a, err := conn.Answer(x.in.Method)
		if err != nil || a.Status >= http.StatusOK {
			return a, err
		}
		if a.Status != http.StatusContinue { // nobody waits for it
			x.inform(a)
		}
	}
}

// interrupted ends the handler's part of a call whose answer has not come.
func (x *exchange) interrupted() error {
	switch refused := x.late.Load(); {
	case refused != nil:
		return x.leavePlain(*refused, nil)
	case x.in.Context().Err() != nil:
		if !x.class.cancel {
			x.permit.Abandon(reason.CallerGone)
		}
		return x.leavePlain(gate.Refusal{Reason: reason.CallerGone, Class: x.class.name}, nil)
	default:
		x.permit.Abandon(reason.Timeout)
		return x.leavePlain(gate.Refusal{Reason: reason.Timeout, Class: x.class.name}, nil)
	}
}

// leavePlain ends the handler's part before the upstream has answered, or with an
// answer that came too late. The call goes on and holds its slot until it ends,
// unless the class has it cut.
func (x *exchange) leavePlain(why gate.Refusal, a *wire.Answer) error {
	x.told = why.Reason
	if x.class.cancel {
		x.hold.cut()
		x.hold.Close()
		if why.Reason == reason.CallerGone {
			return errCallerGone
		}
		return &refusedError{why}
	}
	x.mine = false
	x.cap = time.AfterFunc(x.class.holdAtMost, x.hold.cut)
	x.gateway.abandon(x)
	go x.settlePlain(a)
	return &refusedError{why}
}

// settlePlain waits for the end of a call whose caller was answered or is gone.
func (x *exchange) settlePlain(a *wire.Answer) {
	conn, why := x.hold.conn, reason.Failed
	for a == nil {
		if conn.Await() != nil {
			break
		}
		if got, err := conn.Answer(x.in.Method); err != nil {
			break
		} else if got.Status >= http.StatusOK {
			a = &got
		}
	}
	known := false
	if a != nil {
		why = outcomeOf(a.Status)
		known = discardAll(conn) // to use the connection again
	}
	x.cap.Stop()
	x.hold.Close() // which closes it where there is more to read
	x.give()
	x.spent(known, why)
	x.permit.Finish(why)
	x.record(why)
	x.gateway.forget(x)
}
