package caller

import (
	"context"
	"runtime/debug"

	"github.com/spillway-dev/spillway/policy/call"
)

// run is a contest over values of one type.
type run[T any] struct {
	contest
	f       func(context.Context, Attempt) (T, error)
	discard func(T, Held)

	// What the winner returned; guarded by the caller's mu.
	value T
	err   error
}

// race makes a call with a hedge armed.
func race[T any](ctx context.Context, c *Caller, r *Request, f func(context.Context, Attempt) (T, error), discard func(T, Held)) (v T, held Held, err error) {
	x, ok := c.runs.Get().(*run[T])
	if !ok {
		x = new(run[T])
	}
	x.ctx, x.runner, x.f, x.discard = ctx, x, f, discard
	for a := x.begin(c, r); a != nil; {
		if v, err = x.atHome(a); x.settle(a, v, err) {
			break
		}
		a = x.await(c)
	}
	// The call is over: nothing that is read here is written any more.
	if x.raised != nil {
		panic(x.raised)
	}
	if v, err = x.value, x.err; x.failed != nil {
		err = x.failed
	}
	if x.winner != nil {
		held.ctx = &x.winner.attemptContext
	}
	if !x.hedged {
		x.recycle(c)
	}
	return v, held, err
}

// recycle gives the contest back for another call. Where nothing was ever in flight beside
// home nobody else holds any of it but its Call, which tells its attempts from others'.
func (x *run[T]) recycle(c *Caller) {
	x.ctx, x.runner, x.flights, x.home = nil, nil, [2]*flight{}, pending{}
	x.over, x.last, x.failed, x.winner = false, 0, nil, nil
	x.f, x.discard, x.value, x.err = nil, nil, *new(T), nil
	c.runs.Put(x)
}

// atHome makes an attempt on the caller's goroutine. If f does not return, the call
// ends here.
func (x *run[T]) atHome(a *flight) (v T, err error) {
	returned := false
	defer func() {
		if !returned && !x.abandon(a, nil) && x.winner != nil {
			// A hedge has answered, and nobody is left to take it.
			throwAway(x.value, x.err, Held{&x.winner.attemptContext}, x.discard)
		}
	}()
	v, err = x.f(a, a.attempt)
	returned = true
	return v, err
}

// runBeside makes an attempt on a goroutine of its own, and sees to a panic there.
func (x *run[T]) runBeside(a *flight) {
	returned := false
	defer func() {
		if returned {
			return
		}
		p := recover()
		if p == nil {
			x.settle(a, *new(T), &Error{call.Outcome{Result: call.Broken, Never: true}, errExited})
			return
		}
		if raised := (&Panic{Value: p, Stack: debug.Stack()}); !x.abandon(a, raised) {
			x.call.caller.onPanic(raised.Value, raised.Stack) // home has gone
		}
	}()
	v, err := x.f(a, a.attempt)
	returned = true
	x.settle(a, v, err)
}

// settle reports what an attempt returned. What the call does not end with is thrown
// away.
func (x *run[T]) settle(a *flight, v T, err error) (last bool) {
	c := a.caller
	var o call.Outcome
	var left error
	if err != nil {
		o, left = c.classify(err), x.ctx.Err()
	}
	now := c.Now()
	c.mu.Lock()
	last, t := x.ended(now, a, o, err, left)
	if last {
		x.value, x.err = v, err
	}
	c.mu.Unlock()
	x.carryOut(&t)
	if !last {
		throwAway(v, err, Held{&a.attemptContext}, x.discard)
	}
	return last
}

// abandon ends the call with an attempt that did not return, which says nothing of the
// dependency, and reports whether it was not over before. Home raises the panic of a
// hedge again.
func (x *contest) abandon(a *flight, p *Panic) (ours bool) {
	c := a.caller
	now := c.Now()
	c.mu.Lock()
	ours = !x.over
	_, t := x.ended(now, a, call.Outcome{Result: call.Neutral}, nil, nil)
	var rest todo
	if ours {
		x.raised = p
		if !x.over { // others are in flight, or to follow
			x.call.left(now)
			rest = x.take(now)
		}
	}
	c.mu.Unlock()
	x.carryOut(&t)
	x.carryOut(&rest)
	a.end(context.Canceled)
	return ours
}
