package pool

import (
	"time"

	"github.com/spillway-dev/spillway/policy/estimate"
)

// How sure it must be that a request is answered in time depends on who else
// could have the slot.
const (
	// To be let in to wait it must have left what almost every call takes, or
	// a room that is always full would fill with those that just miss their
	// deadline.
	waitPercent = 98 // percent
	// At its turn, with others behind it, what nine of ten take: it has waited
	// already, and was let in by a prediction that may be off by a little.
	turnPercent = 90
	// Beside a free slot, what a call takes as often as not: nobody else wants
	// the slot.
	runPercent = 50
	// tailMost is by how much the first two may exceed the last. What takes
	// longer is another kind of event (a freeze, a cold cache) and no measure of
	// how long serving takes: where two calls in a hundred freeze, their time
	// would make every request hopeless.
	tailMost = 4
)

// samplesMin is how many calls must have been measured before a measurement
// refuses anybody or sizes anything.
const samplesMin = 16

// serviceTimes follows how long calls take that are served.
type serviceTimes struct {
	all    estimate.Quantiles // by the names below
	recent estimate.Recent
}

const (
	waitQuantile = iota
	turnQuantile
	runQuantile
)

func newServiceTimes() serviceTimes {
	return serviceTimes{all: estimate.NewQuantiles(waitPercent, turnPercent, runPercent)}
}

// add takes in one call.
func (s *serviceTimes) add(took time.Duration) {
	s.all.Add(took)
	s.recent.Add(took)
}

// toWait, atTurn and toRun are what a request must have left to be let in to
// wait, to be run at its turn, to be run at once; 0 while too few calls have been
// measured. They err on the long side, by at most 3.2 %, or those that just miss
// their deadline would be run; but none is ever more than the longest of the last
// calls took, which makes a constant time exact and has a slow hour forgotten as
// soon as it is over.
func (s *serviceTimes) toWait() time.Duration { return s.tail(waitQuantile) }
func (s *serviceTimes) atTurn() time.Duration { return s.tail(turnQuantile) }

func (s *serviceTimes) toRun() time.Duration {
	if s.all.Samples() < samplesMin {
		return 0
	}
	return min(s.all.Upper(runQuantile), s.recent.Value())
}

func (s *serviceTimes) tail(quantile int) time.Duration {
	if s.all.Samples() < samplesMin {
		return 0
	}
	return min(s.all.Upper(quantile), tailMost*s.toRun(), s.recent.Value())
}
