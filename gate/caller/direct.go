package caller

import (
	"context"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/unit"
)

// direct makes a call whose attempts follow each other, all on the caller's goroutine.
func direct[T any](ctx context.Context, c *Caller, r *Request, f func(context.Context, Attempt) (T, error), discard func(T, Held)) (v T, held Held, err error) {
	x := c.calls.Get().(*Call)
	step := x.start(ctx, c, r)
	for step.Do == call.Send {
		v, held, err = attempt(ctx, x, step, f)
		step = x.came(ctx, step.Attempt, err)
		if step.Do == call.Answer || step.Do == call.GiveUp && step.Attempt != 0 {
			break
		}
		throwAway(v, err, held, discard)
		v, held = *new(T), Held{}
		if step.Do == call.Nothing {
			step = x.pause(ctx, step)
		}
	}
	if step.Do == call.GiveUp {
		err = x.failure(step)
	}
	if held.ctx != nil {
		held.ctx.lift()
	}
	x.last = nil
	c.calls.Put(x)
	return v, held, err
}

// attempt makes one attempt. If f does not return, by a panic or by ending the
// goroutine, the call ends here.
func attempt[T any](ctx context.Context, x *Call, step call.Step, f func(context.Context, Attempt) (T, error)) (v T, held Held, err error) {
	if step.Limit < x.outer {
		held.ctx = &attemptContext{parent: ctx, caller: x.caller, limit: step.Limit, timed: true}
		ctx = held.ctx
	}
	returned := false
	defer func() {
		if !returned {
			held.Release()
			x.abandon(step.Attempt)
		}
	}()
	v, err = f(ctx, x.attempt(step))
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
	x.caller.dependency.Left(now, &x.state) // unless it is over
}

// start begins the call and reports its first attempt sent.
func (x *Call) start(ctx context.Context, c *Caller, r *Request) call.Step {
	now := c.Now()
	due, outer := c.deadline(ctx, now, r.Timeout)
	c.mu.Lock()
	step := x.begin(now, due, c, r)
	x.outer = outer
	if step.Do == call.Send {
		c.dependency.Sent(now, &x.state, step.Attempt)
	}
	c.mu.Unlock()
	return step
}

// came reports what an attempt came to, and of a retry that follows at once that it is
// sent.
func (x *Call) came(ctx context.Context, attempt uint16, err error) call.Step {
	var o call.Outcome
	var left error
	if err != nil {
		o, left = x.caller.classify(err), ctx.Err()
	}
	now := x.caller.Now()
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	if left != nil {
		x.last = err
		return x.sending(now, x.gone(now, left))
	}
	return x.sending(now, x.ended(now, attempt, o, err))
}

// sending reports the attempt of a Send sent. With the call's end its attempts are no
// longer of use: what is in the pool is the next call's. The caller holds mu.
func (x *Call) sending(now unit.Instant, s call.Step) call.Step {
	switch s.Do {
	case call.Send:
		x.caller.dependency.Sent(now, &x.state, s.Attempt)
	case call.Answer, call.GiveUp:
		x.use++
	}
	return s
}

// pause waits until there is something to do.
func (x *Call) pause(ctx context.Context, s call.Step) call.Step {
	for s.Do == call.Nothing {
		timer := time.NewTimer(s.Next.Sub(x.caller.Now()))
		select {
		case <-timer.C:
			s = x.resume(nil)
		case <-ctx.Done():
			timer.Stop()
			s = x.resume(ctx.Err())
		}
	}
	return s
}

func (x *Call) resume(left error) call.Step {
	now := x.caller.Now()
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	if left != nil {
		return x.sending(now, x.gone(now, left))
	}
	return x.sending(now, x.noted(x.caller.dependency.Passed(now, &x.state)))
}
