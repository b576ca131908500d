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
	x := &run[T]{f: f, discard: discard}
	x.ctx, x.runner = ctx, x
	for a := x.begin(c, r); a != nil; {
		if v, err = x.atHome(a); x.settle(a, v, err) {
			break
		}
		a = x.await()
	}
	// The call is over: nothing that is read here is written any more.
	if x.raised != nil {
		panic(x.raised)
	}
	if x.winner != nil {
		held.ctx = &x.winner.attemptContext
		held.ctx.lift()
	}
	if x.failed != nil {
		return x.value, held, x.failed
	}
	return x.value, held, x.err
}

// atHome makes an attempt on the caller's goroutine. If f does not return, the call
// ends here.
func (x *run[T]) atHome(a *flight) (v T, err error) {
	returned := false
	defer func() {
		if !returned {
			x.abort(a)
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
		if p := recover(); p != nil {
			x.panicked(a, &Panic{Value: p, Stack: debug.Stack()})
			return
		}
		x.settle(a, *new(T), &Error{call.Outcome{Result: call.Broken, Never: true}, errExited})
	}()
	v, err := x.f(a, a.attempt)
	returned = true
	x.settle(a, v, err)
}

// settle reports what an attempt returned. What the call does not end with is thrown
// away.
func (x *run[T]) settle(a *flight, v T, err error) (last bool) {
	c := x.call.caller
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

// panicked ends the call with the panic of a hedge, which home raises again, unless it
// is over.
func (x *contest) panicked(a *flight, p *Panic) {
	if !x.abandon(a, p) {
		x.call.caller.onPanic(p.Value, p.Stack)
	}
}

// abort ends the call of an attempt at home that does not return.
func (x *contest) abort(a *flight) { x.abandon(a, nil) }

// abandon ends the call with an attempt that did not return, which says nothing of the
// dependency, and reports whether it was not over before.
func (x *contest) abandon(a *flight, p *Panic) (ours bool) {
	c := x.call.caller
	now := c.Now()
	c.mu.Lock()
	ours = !x.over
	_, t := x.ended(now, a, call.Outcome{Result: call.Neutral}, nil, nil)
	var rest todo
	if ours {
		x.raised = p
		if !x.over { // others are in flight, or to follow
			rest = x.take(now, x.call.noted(c.dependency.Left(now, &x.call.state)))
		}
	}
	c.mu.Unlock()
	x.carryOut(&t)
	x.carryOut(&rest)
	a.end(context.Canceled)
	return ours
}
