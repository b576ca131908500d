package plan

import (
	"math"
	"time"
)

// Phase is where an upstream's queue goes, by its length: what is tried again because
// of the queue, against what could be without its growing. Where RetriesPerS lies above
// StandstillPerS the queue grows, below it shrinks; where it crosses upwards is the
// queue from which on a config does not return.
//
// The queue is one in the order of arrival that runs dead work too (see
// [RecoveryInOrder]); its waits are means.
type Phase struct {
	// Queued are lengths of the queue, rising from 0.
	Queued []float64
	// RetriesPerS are the retries that each brings with it.
	RetriesPerS []float64
	// StandstillPerS is sustainable - rate, at most so many retries leave the queue as
	// it is; below 0 it grows without any.
	StandstillPerS float64
	// Tips is the length from which on the queue grows by itself; +Inf: none does.
	Tips float64
}

// phasePoints is how many lengths a Phase has, an odd number: one is at its middle.
const phasePoints = 41

// PhaseOf works a Phase out for queues of up to twice the length at which the wait is
// as long as the timeout: queued / sustainable > timeout, and every try fails. A
// timeout or sustainable rate that is not positive gives an empty one.
func PhaseOf(rate, attempts, sustainable float64, timeout time.Duration) Phase {
	rate, attempts = atLeastZero(rate), max(1, atLeastZero(attempts))
	p := Phase{StandstillPerS: sustainable - rate, Tips: math.Inf(1)}
	late := float64(atLeastZero(sustainable) * max(0, timeout.Seconds()))
	if late == 0 {
		return p
	}
	again := float64(rate * (attempts - 1))
	for i := range phasePoints {
		queued := float64(2 * late * float64(i) / (phasePoints - 1))
		retries := 0.0
		if queued > late {
			retries = again
		}
		p.Queued, p.RetriesPerS = append(p.Queued, queued), append(p.RetriesPerS, retries)
	}
	switch {
	case p.StandstillPerS <= 0:
		p.Tips = 0
	case again >= p.StandstillPerS:
		p.Tips = late
	}
	return p
}
