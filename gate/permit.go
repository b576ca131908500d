package gate

import (
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Permit is the right to run. It has one owner, who finishes it exactly once
// with Done, Drop or Finish. Finishing it again changes nothing and is counted
// (Gate.Bugs). The zero Permit is no right to anything; finishing it does
// nothing.
type Permit struct {
	gate     *Gate
	ticket   boundary.Ticket
	deadline unit.Instant
	granted  unit.Instant
	res      *reservation // nil where there are no quotas
}

// Granted returns the gate's time at which the right to run was given: that of the
// request where it did not have to wait.
func (p Permit) Granted() unit.Instant { return p.granted }

// Deadline returns the instant that governs the work: the caller's, or the
// class's where it named none or one too late. The zero Permit has the zero
// time.
func (p Permit) Deadline() time.Time {
	if p.gate == nil {
		return time.Time{}
	}
	return p.gate.time(p.deadline)
}

// Remaining returns what is left until the deadline, less than 0 once it has
// passed.
func (p Permit) Remaining() time.Duration {
	if p.gate == nil {
		return 0
	}
	return p.deadline.Sub(p.gate.Now())
}

// Done finishes the permit of work that was served.
func (p Permit) Done() { p.Finish(reason.Served) }

// Drop finishes the permit of work that failed.
func (p Permit) Drop() { p.Finish(reason.Failed) }

// Finish finishes the permit with the reason of the answer. reason.None gives
// the grant back: the work was never begun, and nothing is learned from it.
func (p Permit) Finish(why reason.Reason) { p.FinishAt(0, boundary.Outcome{Reason: why}) }

// FinishAt is Finish with the true cost of the work, and for a caller who has
// read the gate's clock already (0: it is read).
func (p Permit) FinishAt(at unit.Instant, o boundary.Outcome) {
	if p.gate != nil {
		p.gate.finish(at, p.ticket, o)
		if p.res != nil {
			p.ended(o.Reason)
		}
	}
}

// Answered reports that the answer is about to flow, and returns whether it
// does in time. If so the deadline is met and no longer ends the request; the
// slot stays held until the permit is finished. If not, the request has timed
// out: OnOverdue has been called or is being called, and says so to the caller.
func (p Permit) Answered() (inTime bool) {
	_, inTime = p.AnsweredAt()
	return inTime
}

// AnsweredAt is Answered for who wants to know the gate's time at which it was.
func (p Permit) AnsweredAt() (at unit.Instant, inTime bool) {
	if p.gate == nil {
		return 0, false
	}
	return p.gate.answered(p.ticket, p.deadline)
}

// Abandon reports that the caller has been answered for the given reason, or
// has gone, while the work goes on. The permit still has to be finished when
// the work ends; until then, and at most for as long as the class allows, the
// work holds its slot.
func (p Permit) Abandon(why reason.Reason) {
	if p.gate != nil {
		p.gate.abandon(p.ticket, why)
	}
}

// Linger reports that an answer which has begun keeps only its caller busy, who
// reads more slowly than it comes: what holds the slot is not the work. The slot is
// given back if the class's streams have room for one more. The permit still has to
// be finished when the answer ends. It may be called again.
func (p Permit) Linger() {
	if p.gate != nil {
		p.gate.linger(p.ticket)
	}
}
