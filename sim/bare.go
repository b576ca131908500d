package sim

import (
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
)

// The same service without spillway: every attempt stands in the upstream's
// line, its caller gives up at its deadline, and an answer that comes later is
// nobody's.

// sendStraight brings an attempt to the upstream.
func (r *run) sendStraight(what int32, a *attempt) {
	res, cl := a.class.resource, &a.class.cfg
	var named unit.Instant
	if a.allowed > 0 {
		named = r.now.Add(a.allowed)
	}
	a.deadline = cl.Due(r.now, named)
	a.due = a.deadline
	leaves := a.deadline
	if patience := r.streams[a.stream].Callers.Patience; patience > 0 {
		leaves = min(leaves, r.now.Add(patience))
	}
	a.place = waiting
	res.count(+1, 0)
	r.heap.Push(leaves, callerLeaves, what, a.life)
	res.send(what, a, spread.None)
}

// startStraight is called when the upstream begins to serve it.
func (r *run) startStraight(a *attempt) {
	a.place, a.started = running, r.now
	a.class.resource.count(-1, +1)
	if !a.answered {
		r.bookStart(a)
	}
}

// endStraight is called when its work has ended, by itself or stopped.
func (r *run) endStraight(what int32, a *attempt, why reason.Reason, byItself bool) {
	res := a.class.resource
	if a.place == running {
		res.release(a)
	} else {
		res.count(-1, 0)
	}
	if byItself {
		res.bookEnd(a, why)
	}
	a.place, a.work = outside, none
	switch {
	case a.answered:
		r.attempts.give(what)
		return
	case r.now >= a.deadline && !a.class.call.StartDeadline:
		why = reason.Timeout // its caller gives up at this very instant
	}
	r.answer(what, a, why, 0)
}

// leaveStraight is called at its deadline, or when its caller hangs up.
func (r *run) leaveStraight(what int32, a *attempt) {
	why := reason.CallerGone
	if r.now >= a.deadline {
		if a.class.call.StartDeadline && a.place == running {
			return
		}
		why = reason.Timeout
	}
	r.answer(what, a, why, 0)
	if a.class.resource.upstream.NoticesCancel {
		a.class.resource.stop(what, a, why)
	}
}
