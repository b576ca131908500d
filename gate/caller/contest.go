package caller

import (
	"context"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/unit"
)

// contest is a call in which a hedge may run beside the attempt of a try. The try's
// own attempt runs at home, on the caller's goroutine, which then waits there for
// whatever else is in flight or to come. All but ctx and runner is guarded by the
// caller's mu.
type contest struct {
	ctx    context.Context // the caller's
	runner interface{ runBeside(*flight) }

	call  Call
	alarm *alarm // nil once the call is over

	flights [2]*flight    // in flight
	home    pending       // what is to be made at home
	ready   chan struct{} // home waits until it is closed
	hedged  bool          // an attempt was made beside home

	over   bool
	last   uint16   // the attempt with which it ended, 0: none
	failed *Failure // of a GiveUp
	winner *flight  // the attempt with which it ended, if it is held
	raised *Panic   // by the hedge with which it did
}

// flight is an attempt with its context.
type flight struct {
	attemptContext
	attempt Attempt
}

// pending is an attempt to be made; 0: none.
type pending struct {
	attempt uint16
	limit   unit.Instant
}

// todo is what is to be done once mu is free.
type todo struct {
	cut    [2]*flight
	err    error // for those
	beside *flight
}

// take does what the latest step says, as far as it can be done under mu, and returns the
// rest.
func (x *contest) take(now unit.Instant) (t todo) {
	s := x.call.step
	if s.Cancel != (call.Set{}) {
		t.err = context.Canceled
		if now >= x.call.state.Limit() {
			t.err = context.DeadlineExceeded
		}
		for i, n := range s.Cancel {
			t.cut[i] = x.landed(n)
		}
	}
	switch {
	case s.Do == call.Answer || s.Do == call.GiveUp:
		x.finish()
		return t
	case s.Do == call.Send && s.Hedge:
		x.hedged = true
		t.beside = x.launch(now, s.Attempt, true, s.Limit)
	case s.Do == call.Send:
		x.home = pending{s.Attempt, s.Limit}
		x.wake()
	}
	x.alarm.set(now, s.Next)
	return t
}

func (x *contest) finish() {
	x.over, x.last, x.home = true, x.call.step.Attempt, pending{}
	if x.call.step.Do == call.GiveUp {
		x.failed = x.call.failure()
	}
	if !x.hedged {
		x.call.use++ // nobody asks any more, and the contest may be another's next
	}
	x.alarm.off()
	x.alarm = nil
	x.wake()
}

// wake has home look at what there is to do.
func (x *contest) wake() {
	if x.ready != nil {
		close(x.ready)
		x.ready = nil
	}
}

// launch puts an attempt in flight.
func (x *contest) launch(now unit.Instant, n uint16, hedge bool, limit unit.Instant) *flight {
	f := new(flight)
	f.parent, f.caller, f.limit = x.ctx, x.call.caller, limit
	f.attempt.of(&x.call, n, hedge, limit)
	if x.flights[0] == nil {
		x.flights[0] = f
	} else {
		x.flights[1] = f
	}
	x.call.caller.dependency.Sent(now, &x.call.state, n)
	return f
}

// landed takes an attempt out of those in flight.
func (x *contest) landed(attempt uint16) *flight {
	for i, f := range x.flights {
		if f != nil && f.attempt.Number == int(attempt) {
			x.flights[i] = nil
			return f
		}
	}
	return nil
}

// carryOut does what is left of a step. The lock must be free.
func (x *contest) carryOut(t *todo) {
	for _, f := range t.cut {
		if f != nil {
			f.end(t.err)
		}
	}
	if t.beside != nil {
		go x.runner.runBeside(t.beside)
	}
}

// begin opens the call and returns its first attempt, which is sent now, or nil.
func (x *contest) begin(c *Caller, r *Request) *flight {
	a := c.alarms.Get().(*alarm)
	now := c.Now()
	due, _ := c.deadline(x.ctx, now, r.Timeout)
	c.mu.Lock()
	x.alarm, a.of = a, x
	x.call.begin(now, due, c, r)
	x.take(now) // nothing is in flight that could be cut off
	f := x.pick(now)
	c.mu.Unlock()
	return f
}

// pick returns what is to be made at home, or nil. The caller holds mu.
func (x *contest) pick(now unit.Instant) *flight {
	p := x.home
	if p.attempt == 0 {
		return nil
	}
	x.home = pending{}
	return x.launch(now, p.attempt, false, p.limit)
}

// await waits for what is to be made at home next; nil: the call is over.
func (x *contest) await(c *Caller) *flight {
	for {
		now := c.Now()
		c.mu.Lock()
		if f := x.pick(now); f != nil || x.over {
			c.mu.Unlock()
			return f
		}
		ready := make(chan struct{})
		x.ready = ready
		c.mu.Unlock()
		select {
		case <-ready:
		case <-x.ctx.Done():
			x.leave(c)
		}
	}
}

// leave reports that the caller's context has ended.
func (x *contest) leave(c *Caller) {
	now := c.Now()
	c.mu.Lock()
	var t todo
	if !x.over {
		x.call.gone(now, x.ctx.Err())
		t = x.take(now)
	}
	c.mu.Unlock()
	x.carryOut(&t)
}

// ended reports what an attempt came to, and says whether the call ends with it. The
// caller holds mu.
func (x *contest) ended(now unit.Instant, f *flight, o call.Outcome, err, left error) (last bool, t todo) {
	if x.over {
		return false, t // it was cut off, or never will be answered for
	}
	n := uint16(f.attempt.Number)
	x.landed(n)
	if left != nil {
		x.call.last = err
		x.call.gone(now, left)
	} else {
		x.call.ended(now, n, o, err)
	}
	if t = x.take(now); x.over && x.last == n {
		x.winner = f
	}
	return x.winner == f, t
}
