package caller

import (
	"context"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/unit"
)

// direct makes a call whose attempts follow each other, all on the caller's goroutine,
// which alone touches the latest step.
func direct[T any](ctx context.Context, c *Caller, r *Request, f func(context.Context, Attempt) (T, error), discard func(T, Held)) (v T, held Held, err error) {
	x := c.calls.Get().(*Call)
	x.start(ctx, c, r)
	for x.step.Do == call.Send {
		n := x.step.Attempt
		v, held, err = attempt(ctx, x, f)
		if x.came(ctx, n, err); x.step.Do == call.Answer || x.step.Do == call.GiveUp && x.step.Attempt != 0 {
			break
		}
		throwAway(v, err, held, discard)
		v, held = *new(T), Held{}
		if x.step.Do == call.Nothing {
			x.pause(ctx)
		}
	}
	if x.step.Do == call.GiveUp {
		err = x.failure()
	}
	x.last = nil
	c.calls.Put(x)
	return v, held, err
}

// attempt makes one attempt. If f does not return, by a panic or by ending the
// goroutine, the call ends here.
func attempt[T any](ctx context.Context, x *Call, f func(context.Context, Attempt) (T, error)) (v T, held Held, err error) {
	a := x.attempt(x.step.Attempt, false, x.step.Limit)
	if a.limit < x.outer {
		held.ctx = &attemptContext{parent: ctx, caller: x.caller, limit: a.limit, timed: true}
		ctx = held.ctx
	}
	returned := false
	defer func() {
		if !returned {
			held.Release()
			x.abandon(uint16(a.Number))
		}
	}()
	v, err = f(ctx, a)
	returned = true
	return v, held, err
}

// abandon ends the call with an attempt that did not return, which says nothing of the
// dependency.
func (x *Call) abandon(attempt uint16) {
	now := x.caller.Now()
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	x.ended(now, attempt, call.Outcome{Result: call.Neutral}, nil)
	x.left(now) // unless it is over
	x.use++
}

// start begins the call and reports its first attempt sent.
func (x *Call) start(ctx context.Context, c *Caller, r *Request) {
	now := c.Now()
	due, outer := c.deadline(ctx, now, r.Timeout)
	x.outer = outer
	c.mu.Lock()
	x.begin(now, due, c, r)
	x.proceed(now)
	c.mu.Unlock()
}

// came reports what an attempt came to.
func (x *Call) came(ctx context.Context, attempt uint16, err error) {
	c := x.caller
	var o call.Outcome
	var left error
	if err != nil {
		o, left = c.classify(err), ctx.Err()
	}
	now := c.Now()
	c.mu.Lock()
	if left != nil {
		x.last = err
		x.gone(now, left)
	} else {
		x.ended(now, attempt, o, err)
	}
	x.proceed(now)
	c.mu.Unlock()
}

// proceed does what there is to do of the latest step under mu: an attempt is sent now. With
// the call's end its attempts are no longer of use: what is in the pool is the next call's.
func (x *Call) proceed(now unit.Instant) {
	switch x.step.Do {
	case call.Send:
		x.caller.dependency.Sent(now, &x.state, x.step.Attempt)
	case call.Answer, call.GiveUp:
		x.use++
	}
}

// pause waits until there is something to do.
func (x *Call) pause(ctx context.Context) {
	for x.step.Do == call.Nothing {
		timer := time.NewTimer(x.step.Next.Sub(x.caller.Now()))
		select {
		case <-timer.C:
			x.resume(nil)
		case <-ctx.Done():
			timer.Stop()
			x.resume(ctx.Err())
		}
	}
}

func (x *Call) resume(left error) {
	now := x.caller.Now()
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	if left != nil {
		x.gone(now, left)
	} else {
		x.passed(now)
	}
	x.proceed(now)
}
