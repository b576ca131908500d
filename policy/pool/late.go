package pool

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// A predicted wait is a mean: slots come free in bunches, not one interval after
// the other. Where the room is full all the time, everybody let in is let in at
// the edge, and half of them would find at their turn that the edge was a little
// nearer. So what is let in must have left, beside the wait predicted and the
// time of almost every call, by how much almost every wait exceeds its
// prediction:
//
//	lateness = 95th percentile of (wait - predicted wait), at most a quarter of
//	           the time of almost every call
//
// Without it, 40 slots of 100 to 103 ms that were offered five times their rate
// refused one in ten of those let in at their turn (virtual time, and the same
// live). The quarter keeps a prediction that is wrong for another reason, an
// optimistic one among tenants or one made before the service slowed down, from
// closing the room. A waiter whose deadline passes before its turn is no sample:
// how late its turn would have come nobody knows.
const (
	almostEveryWait = 95 // percent
	latenessShare   = 4
)

// Turned takes in that a waiter's turn has come, whether or not it still runs.
func (p *Pool) Turned(it *Item, now unit.Instant) {
	p.late.Add(now.Sub(it.Offered) - it.predicted)
	p.lateBy = p.lateness()
}

func (p *Pool) lateness() time.Duration {
	if p.late.Samples() < samplesMin {
		return 0
	}
	return p.late.Upper(0)
}

// NeededToWait returns what a request must have left, beside its predicted wait,
// to be let in to wait.
func (p *Pool) NeededToWait() time.Duration {
	call := p.service.toWait()
	return call + min(p.lateBy, call/latenessShare)
}
