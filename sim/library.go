package sim

import (
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
)

// Callers who use Spillway's client library: what a caller does is decided by
// policy/call, and each attempt that the policy makes is a request to the boundary,
// as it is to a live gateway. The callers of a stream are one process: they share
// budget and breaker.
//
// An attempt may be answered amid an event of a machine. Its caller hears of it in an
// event of the same instant, and offers what it then sends in another.

// ask makes a caller's call; a is the request as it has arrived.
func (r *run) ask(what int32, a *attempt) {
	st := r.streams[a.stream]
	id := r.clients.take()
	c := r.clients.at(id)
	c.request, c.next = *a, unit.Never
	r.attempts.give(what)
	r.callers++ // until its call has ended
	within := st.Callers.Deadline
	if c.request.allowed > 0 {
		within = c.request.allowed
	}
	deadline := unit.Never
	if within > 0 {
		deadline = r.now.Add(within)
	}
	luck := st.calls.At(uint64(c.request.number), 1<<63)
	r.heed(id, c, *st.client.Begin(r.now, &c.Call, call.Request{Deadline: deadline, Idempotent: true, Dice: luck.Uint64() | 1}))
}

// heed does what a caller's policy says.
func (r *run) heed(id int32, c *calling, s call.Step) {
	for _, n := range s.Cancel {
		if n != 0 {
			r.hangUp(c, n)
		}
	}
	switch s.Do {
	case call.Answer, call.GiveUp:
		r.endAsking(id, c, s.Do == call.Answer)
		return
	case call.Send:
		r.offerNext(id, c, s)
	}
	if s.Next != c.next {
		c.next = s.Next
		if s.Next != unit.Never {
			r.heap.Push(max(s.Next, r.now), callerActs, id, c.life)
		}
	}
}

// offerNext offers an attempt at this instant, once what is under way is over.
func (r *run) offerNext(id int32, c *calling, s call.Step) {
	what := r.attempts.take()
	a := r.attempts.at(what)
	life := a.life
	*a = c.request
	a.life, a.try, a.asker, a.unsent = life, int32(s.Attempt)-1, id, true
	a.allowed = 0
	st := r.streams[a.stream]
	if s.Limit != unit.Never && st.Callers.PassDeadline {
		a.allowed = time.Duration(s.Limit - r.now)
	}
	*c.free() = errand{place: place{What: what, Life: life}, attempt: s.Attempt}
	st.client.Sent(r.now, &c.Call, s.Attempt)
	r.callers++
	r.heap.Push(r.now, triesAgain, what, life)
}

// hangUp ends an attempt that its caller does not wait for any longer.
func (r *run) hangUp(c *calling, attempt uint16) {
	p := c.land(attempt).place
	a := r.attempts.at(p.What)
	if a.life != p.Life {
		return // it was answered at this very instant
	}
	if a.down != 0 {
		r.descents.at(a.down).request.asker = 0
	}
	a.asker = 0
	if a.unsent && a.down == 0 {
		r.callers--
		r.attempts.give(p.What)
		return
	}
	r.callerLeaves(p.What, a)
}

// hear notes what an attempt came to, of which its caller hears in an event.
func (r *run) hear(a *attempt, rung report.Rung, why reason.Reason, retryAfter time.Duration) {
	c := r.clients.at(a.asker)
	for i := range c.errands {
		if e := &c.errands[i]; e.attempt == uint16(a.try)+1 {
			e.ended, e.rung, e.outcome = true, rung, heard(rung, why, retryAfter)
			r.heap.Push(r.now, callerActs, a.asker, c.life)
		}
	}
}

// heard is what an answer tells a client: one of any rung is an answer.
func heard(rung report.Rung, why reason.Reason, retryAfter time.Duration) call.Outcome {
	o := call.Outcome{After: retryAfter}
	switch {
	case rung != report.NoRung || why.Kind() == reason.KindDone:
		o.Result = call.OK
	case why == reason.Dropped:
		o.Result, o.Never = call.Refused, true
	case why == reason.Unknown:
		o.Result, o.Never = call.Broken, true
	case why == reason.Timeout:
		o.Result = call.Broken
	case why == reason.Failed:
		o.Result = call.Fault
	case why.Kind() == reason.KindInput:
		o.Result = call.Neutral
	default:
		o.Result = call.Refused
	}
	return o
}

// callerActs is called when a caller has heard of something, or has waited.
func (r *run) callerActs(id int32, c *calling) {
	st := r.streams[c.request.stream]
	for i := range c.errands {
		if e := c.errands[i]; e.ended {
			c.errands[i], c.rung = errand{}, e.rung
			r.heed(id, c, *st.client.Ended(r.now, &c.Call, e.attempt, e.outcome))
			if c.Over() {
				return
			}
		}
	}
	if c.next <= r.now {
		c.next = unit.Never
		r.heed(id, c, *st.client.Passed(r.now, &c.Call))
	}
}

func (r *run) endAsking(id int32, c *calling, answered bool) {
	r.callers--
	if st := r.streams[c.request.stream]; r.counts(c.request.scheduled) {
		if answered {
			st.result.heard(c.rung)
		} else {
			st.result.GaveUp++
		}
	}
	r.clients.give(id)
}
