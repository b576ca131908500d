package sim

import (
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/spread"
)

// abandon answers the caller of work that goes on.
func (r *run) abandon(what int32, a *attempt, why reason.Reason, retryAfter time.Duration) {
	a.abandoned = true
	if why == reason.Timeout || why == reason.Expired {
		a.class.resource.upstream.judge(r.now, a, spread.Late)
	}
	r.answer(what, a, why, retryAfter)
}

// workEnds is called when the upstream has ended, or stopped, an attempt's work.
func (r *run) workEnds(what int32, a *attempt) {
	if a.nth != 0 {
		r.errandEnds(what, a)
		return
	}
	res := a.class.resource
	why, byItself := reason.Served, a.work != stopped
	switch {
	case !byItself:
		why = a.why
	case a.failing:
		why = reason.Failed
	}
	if byItself {
		said := spread.Answered
		if a.failing {
			said = spread.Failed
		}
		res.upstream.judge(r.now, a, said)
		res.upstream.copies[a.copy].busy--
		res.leaves(a)
		res.serveNext(a.copy)
	}
	a.work = ending
	if r.Unprotected {
		r.endStraight(what, a, why, byItself)
		return
	}
	if a.abandoned && res.machine.Next() <= r.now {
		res.wake(r.now) // a hard cap at this instant voids the ticket first
	}
	if !a.voided {
		a.place = outside
		res.release(a)
		res.out.Reset()
		res.machine.Done(r.now, a.ticket, boundary.Outcome{Reason: why}, &res.out)
		res.show(boundary.Event{At: r.now, Kind: boundary.Ended, Class: a.class.index, Ticket: a.ticket})
		res.carryOut()
	}
	if byItself {
		res.bookEnd(a, why)
	}
	r.settle(a, why)
	a.work = none
	if a.answered {
		r.attempts.give(what)
		return
	}
	r.answer(what, a, why, 0)
}

// callTimesOut ends a call that took too long.
func (r *run) callTimesOut(what int32, a *attempt) {
	switch {
	case a.nth != 0:
		r.limitPassed(what, a)
		return
	case a.calling != 0:
		r.callPassed(what, a)
		return
	}
	if a.answered || a.place != running {
		return
	}
	res := a.class.resource
	if res.upstream.NoticesCancel {
		r.endNow(what, a, reason.Timeout)
		return
	}
	res.out.Reset()
	res.machine.Abandon(r.now, a.ticket, reason.Timeout, &res.out)
	res.show(boundary.Event{At: r.now, Kind: boundary.Abandoned, Class: a.class.index, Ticket: a.ticket})
	res.carryOut()
	if !a.answered {
		r.abandon(what, a, reason.Timeout, 0)
	}
}

// callerLeaves lets a caller hang up.
func (r *run) callerLeaves(what int32, a *attempt) {
	switch {
	case a.answered:
		return
	case a.unsent:
		r.answer(what, a, reason.CallerGone, 0)
		return
	case r.Unprotected:
		r.leaveStraight(what, a)
		return
	}
	res := a.class.resource
	res.out.Reset()
	if a.place == waiting || a.place == reserving {
		a.leaving = true
		res.machine.Leave(r.now, a.ticket, &res.out)
		res.show(boundary.Event{At: r.now, Kind: boundary.Left, Class: a.class.index, Ticket: a.ticket})
		life := a.life
		res.carryOut()
		if a.life != life {
			return // it was refused at this instant: leaving lost the race
		}
		if a.place != running {
			res.leave(a)
		}
		a.place = outside
		r.answer(what, a, reason.CallerGone, 0)
		return
	}
	switch {
	case a.calling != 0:
		r.leaveCall(what, a)
		return
	case res.upstream.NoticesCancel:
		r.endNow(what, a, reason.CallerGone)
		return
	}
	res.machine.Abandon(r.now, a.ticket, reason.CallerGone, &res.out)
	res.show(boundary.Event{At: r.now, Kind: boundary.Abandoned, Class: a.class.index, Ticket: a.ticket})
	res.carryOut()
	if !a.answered {
		r.abandon(what, a, reason.CallerGone, 0)
	}
}

// endNow ends a running attempt whose upstream has noticed that its call was
// given up.
func (r *run) endNow(what int32, a *attempt, why reason.Reason) {
	if a.class.resource.halt(a, why) {
		r.workEnds(what, a)
	}
}
