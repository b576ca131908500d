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
	first   flight        // here, so that it is no allocation
	home    call.Step     // a Send that is to be made at home
	ready   chan struct{} // home waits until it is closed

	over   bool
	end    call.Step
	failed *Failure // of a GiveUp
	winner *flight  // the attempt with which the call ended
	raised *Panic   // by the hedge with which it did
}

// flight is an attempt with its context.
type flight struct {
	attemptContext
	attempt Attempt
}

// todo is what is to be done once mu is free.
type todo struct {
	cut    [2]*flight
	err    error // for those
	beside *flight
}

// take does what a step says, as far as it can be done under mu, and returns the rest.
func (x *contest) take(now unit.Instant, s call.Step) (t todo) {
	if s.Cancel != (call.Set{}) {
		t.err = context.Canceled
		if now >= x.call.limit {
			t.err = context.DeadlineExceeded
		}
		for i, n := range s.Cancel {
			t.cut[i] = x.landed(n)
		}
	}
	switch {
	case s.Do == call.Answer || s.Do == call.GiveUp:
		x.finish(s)
		return t
	case s.Do == call.Send && !s.Hedge:
		x.home = s
		x.wake()
	case s.Do == call.Send:
		t.beside = new(flight)
		x.launch(now, t.beside, s)
	}
	x.alarm.set(now, x.call.next)
	return t
}

func (x *contest) finish(s call.Step) {
	x.over, x.end, x.home = true, s, call.Step{}
	if s.Do == call.GiveUp {
		x.failed = x.call.failure(s)
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
func (x *contest) launch(now unit.Instant, f *flight, s call.Step) {
	f.parent, f.caller, f.limit, f.attempt = x.ctx, x.call.caller, s.Limit, x.call.attempt(s)
	if x.flights[0] == nil {
		x.flights[0] = f
	} else {
		x.flights[1] = f
	}
	x.call.caller.dependency.Sent(now, &x.call.state, s.Attempt)
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

// carryOut does what is left of a step. The contest's lock must be free.
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
	x.take(now, x.call.begin(now, due, c, r)) // nothing is in flight that could be cut off
	f := x.pick(now)
	c.mu.Unlock()
	return f
}

// pick returns what is to be made at home, or nil. The caller holds mu.
func (x *contest) pick(now unit.Instant) *flight {
	if x.home.Do != call.Send {
		return nil
	}
	s := x.home
	x.home = call.Step{}
	f := &x.first
	if f.attempt.Number != 0 {
		f = new(flight)
	}
	x.launch(now, f, s)
	return f
}

// await waits for what is to be made at home next; nil: the call is over.
func (x *contest) await() *flight {
	c := x.call.caller
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
			x.leave()
		}
	}
}

// leave reports that the caller's context has ended.
func (x *contest) leave() {
	c := x.call.caller
	now := c.Now()
	c.mu.Lock()
	var t todo
	if !x.over {
		t = x.take(now, x.call.gone(now, x.ctx.Err()))
	}
	c.mu.Unlock()
	x.carryOut(&t)
}

// ended reports what an attempt came to, and says whether the call ends with it. The
// caller holds mu.
func (x *contest) ended(now unit.Instant, f *flight, o call.Outcome, err, left error) (last bool, t todo) {
	n := uint16(f.attempt.Number)
	x.landed(n)
	var s call.Step
	if left != nil && !x.over {
		x.call.last = err
		s = x.call.gone(now, left)
	} else {
		s = x.call.ended(now, n, o, err)
	}
	if x.over {
		return false, t
	}
	t = x.take(now, s)
	if x.over && x.end.Attempt == n {
		x.winner = f
	}
	return x.winner == f, t
}
