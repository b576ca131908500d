package caller

import (
	"context"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/unit"
)

// direct makes a call whose attempts follow each other, all on the caller's goroutine,
// which alone touches the latest step. Once the call is over it is the next one's.
func direct[T any](ctx context.Context, c *Caller, r *Request, f func(context.Context, Attempt) (T, error), discard func(T, Held)) (v T, held Held, err error) {
	x, end := c.open(ctx, r)
	for !end.over {
		v, held, err = attempt(ctx, x, f)
		if end = x.came(ctx, err); end.own {
			break
		}
		throwAway(v, err, held, discard)
		v, held = *new(T), Held{}
		if !end.over {
			end = x.pause(ctx)
		}
	}
	if end.failed != nil {
		err = end.failed
	}
	return v, held, err
}

// ending is whether and how a call ends with a fact.
type ending struct {
	over   bool
	own    bool // with the attempt whose end was the fact, whose value is kept
	failed *Failure
}

// attempt makes one attempt. If f does not return, by a panic or by ending the
// goroutine, the call ends here.
func attempt[T any](ctx context.Context, x *Call, f func(context.Context, Attempt) (T, error)) (v T, held Held, err error) {
	var a Attempt
	a.of(x, x.step.Attempt, false, x.step.Limit)
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

// open begins a call and reports its first attempt sent.
func (c *Caller) open(ctx context.Context, r *Request) (*Call, ending) {
	now := c.Now()
	due, outer := c.deadline(ctx, now, r.Timeout)
	c.mu.Lock()
	x := c.spare.take()
	x.outer = outer
	x.begin(now, due, c, r)
	end := x.proceed(now)
	c.mu.Unlock()
	return x, end
}

// came reports what the latest attempt came to.
func (x *Call) came(ctx context.Context, err error) ending {
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
		x.ended(now, x.step.Attempt, o, err)
	}
	end := x.proceed(now)
	c.mu.Unlock()
	return end
}

// proceed does what there is to do of the latest step under mu: an attempt is sent now. With
// the call's end its attempts are no longer of use, and the Call is the next one's.
func (x *Call) proceed(now unit.Instant) (end ending) {
	switch x.step.Do {
	case call.Send:
		x.caller.dependency.Sent(now, &x.state, x.step.Attempt)
		return end
	case call.Nothing:
		return end
	case call.GiveUp:
		end.failed = x.failure()
	}
	end.over, end.own = true, x.step.Attempt != 0
	x.use++
	x.caller.spare.give(x)
	return end
}

// pause waits until there is something to do.
func (x *Call) pause(ctx context.Context) (end ending) {
	for !end.over && x.step.Do == call.Nothing {
		timer := time.NewTimer(x.step.Next.Sub(x.caller.Now()))
		select {
		case <-timer.C:
			end = x.resume(nil)
		case <-ctx.Done():
			timer.Stop()
			end = x.resume(ctx.Err())
		}
	}
	return end
}

func (x *Call) resume(left error) ending {
	now := x.caller.Now()
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	if left != nil {
		x.gone(now, left)
	} else {
		x.passed(now)
	}
	return x.proceed(now)
}
