package sim

import (
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
)

// The calls of a class with a call policy: the request holds its slot of the
// boundary, and each attempt that the policy makes is an errand of its own to the
// upstream. An errand is an attempt of the arena without a place in the boundary.
// It meets dice of its own, so that a retry does not meet the luck of the first.

// calling is a request's call while it runs.
type calling struct {
	call.Call
	next    unit.Instant // when Passed is to be reported; Never if it is not
	errands [2]errand
	life    uint32
	request attempt     // of a client's call: what its attempts offer
	rung    report.Rung // and whose answer was heard last
}

// errand is an attempt of a call in flight.
type errand struct {
	place
	attempt uint16 // 0: none
	ended   bool   // with outcome, of which the client hears in a moment
	outcome call.Outcome
	rung    report.Rung
}

// free returns a place for one more errand.
func (c *calling) free() *errand {
	if c.errands[0].attempt != 0 {
		return &c.errands[1]
	}
	return &c.errands[0]
}

// callings are the calls in flight, by number from 1 on.
type callings struct {
	calls []*calling
	free  []int32
}

func (cs *callings) at(i int32) *calling { return cs.calls[i-1] }

func (cs *callings) take() int32 {
	if n := len(cs.free); n > 0 {
		i := cs.free[n-1]
		cs.free = cs.free[:n-1]
		return i
	}
	cs.calls = append(cs.calls, new(calling))
	return int32(len(cs.calls))
}

// give takes a call back that has ended; events that name it turn stale.
func (cs *callings) give(i int32) {
	c := cs.at(i)
	*c = calling{life: c.life + 1}
	cs.free = append(cs.free, i)
}

// begin makes a request's call.
func (r *run) begin(what int32, a *attempt) {
	a.calling = r.callings.take()
	c := r.callings.at(a.calling)
	c.next = unit.Never
	luck := r.streams[a.stream].calls.At(uint64(a.number), uint64(a.try))
	r.follow(what, a, *a.class.dependency.Begin(r.now, &c.Call, call.Request{
		Deadline:   a.deadline,
		Idempotent: true,
		Dice:       luck.Uint64() | 1,
	}))
}

// follow does what the policy says.
func (r *run) follow(what int32, a *attempt, s call.Step) {
	c := r.callings.at(a.calling)
	for _, n := range s.Cancel {
		if n != 0 {
			r.cut(a, c, n)
		}
	}
	switch s.Do {
	case call.Answer:
		r.endCall(what, a, reason.Served)
		return
	case call.GiveUp:
		r.endCall(what, a, s.Reason)
		return
	case call.Send:
		r.sendErrand(what, a, c, s)
	}
	if s.Next != c.next {
		c.next = s.Next
		if s.Next != unit.Never {
			r.heap.Push(max(s.Next, r.now), callTimesOut, what, a.life)
		}
	}
}

// sendErrand sends one attempt of the call to the upstream.
func (r *run) sendErrand(what int32, a *attempt, c *calling, s call.Step) {
	at := r.attempts.take()
	e := r.attempts.at(at)
	e.class, e.stream, e.number, e.tenant, e.level = a.class, a.stream, a.number, a.tenant, a.level
	e.service, e.cost, e.session, e.try = a.service, a.cost, a.session, a.try
	e.of, e.nth, e.deadline = place{What: what, Life: a.life}, s.Attempt, s.Limit
	beside := spread.None
	if s.Attempt > 1 {
		beside = a.copy // of the attempt before
	}
	*c.free() = errand{place: place{What: at, Life: e.life}, attempt: s.Attempt}
	a.class.dependency.Sent(r.now, &c.Call, s.Attempt)
	e.class.resource.send(at, e, beside)
	a.copy = e.copy
}

// callPassed reports that the instant has come for which the policy asked.
func (r *run) callPassed(what int32, a *attempt) {
	c := r.callings.at(a.calling)
	if c.next > r.now {
		return // it has asked for another since
	}
	c.next = unit.Never
	r.follow(what, a, *a.class.dependency.Passed(r.now, &c.Call))
}

// errandEnds is called when the upstream has ended an errand by itself.
func (r *run) errandEnds(at int32, e *attempt) {
	res := e.class.resource
	why, said, outcome := reason.Served, spread.Answered, call.OK
	if e.failing {
		why, said, outcome = reason.Failed, spread.Failed, call.Fault
	}
	if e.work != stopped {
		res.upstream.judge(r.now, e, said)
		res.upstream.copies[e.copy].busy--
		res.leaves(e)
		res.serveNext(e.copy)
		res.bookEnd(e, why)
	}
	of, nth, orphan := e.of, e.nth, e.answered
	r.attempts.give(at)
	if orphan {
		return
	}
	a := r.attempts.at(of.What)
	c := r.callings.at(a.calling)
	c.land(nth)
	r.follow(of.What, a, *a.class.dependency.Ended(r.now, &c.Call, nth, call.Outcome{Result: outcome}))
}

// land takes an attempt out of those in flight.
func (c *calling) land(attempt uint16) errand {
	for i := range c.errands {
		if e := c.errands[i]; e.attempt == attempt {
			c.errands[i] = errand{}
			return e
		}
	}
	return errand{}
}

// cut leaves an attempt alone: what it comes to is nobody's. The upstream stops at
// once, at the limit that was passed on to it, or not at all.
func (r *run) cut(a *attempt, c *calling, attempt uint16) {
	p := c.land(attempt).place
	e := r.attempts.at(p.What)
	e.answered = true
	res := e.class.resource
	res.upstream.judge(r.now, e, spread.Late)
	passed := res.upstream.KeepsDeadline && a.class.call.PassDeadline
	switch {
	case res.upstream.NoticesCancel, passed && e.deadline <= r.now:
		if res.halt(e, reason.Timeout) {
			r.attempts.give(p.What)
		}
	case passed:
		r.heap.Push(e.deadline, callTimesOut, p.What, e.life)
	}
}

// limitPassed stops an errand that nobody waits for at the limit that was passed on.
func (r *run) limitPassed(at int32, e *attempt) {
	if e.answered && e.class.resource.halt(e, reason.Timeout) {
		r.attempts.give(at)
	}
}

// leaveCall ends the call of a caller who is gone.
func (r *run) leaveCall(what int32, a *attempt) {
	c := r.callings.at(a.calling)
	r.follow(what, a, *a.class.dependency.Left(r.now, &c.Call))
}

// endCall ends a request whose call has ended.
func (r *run) endCall(what int32, a *attempt, why reason.Reason) {
	res := a.class.resource
	c := r.callings.at(a.calling)
	a.calls = int32(c.Attempts())
	r.callings.give(a.calling)
	a.calling = 0
	a.work, a.place = ending, outside
	res.release(a)
	res.out.Reset()
	res.machine.Done(r.now, a.ticket, boundary.Outcome{Reason: why}, &res.out)
	r.settle(a, why)
	res.show(boundary.Event{At: r.now, Kind: boundary.Ended, Class: a.class.index, Ticket: a.ticket})
	res.carryOut()
	a.work = none
	if a.answered {
		r.attempts.give(what)
		return
	}
	r.answer(what, a, why, 0)
}

// dependencyOf returns the state that calls under a policy share, or nil.
func dependencyOf(p *call.Policy, seed uint64) (*call.Dependency, error) {
	if p == nil {
		return nil, nil
	}
	own := *p
	own.Seed ^= seed
	return call.New(own)
}

// die numbers the dice that the work of an attempt meets: each attempt of each try
// has its own, and so has what another resource does for it.
func (a *attempt) die() uint64 {
	return uint64(a.try) | uint64(max(a.nth, 1)-1)<<32 | uint64(a.class.asked)<<48
}
