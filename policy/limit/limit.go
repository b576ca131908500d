package limit

import (
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A Limiter is told of every call that ended and answers how many may run. It
// takes constant time and allocates nothing. It is not safe for concurrent use.
type Limiter interface {
	// Limit returns how many requests may hold a slot now, at least 1.
	Limit() int
	// Ended takes in what is known of one call. Instants never decrease.
	Ended(now unit.Instant, s Sample)
	// State returns what there is to see of it.
	State() State
	// Export returns what was learned, and Import replaces it, whatever it is
	// given: out of bounds is brought inside them, nonsense is not taken.
	Export() Measured
	Import(m Measured)
}

// A Sample is what is known of one call when its answer begins, or when it has
// failed to come. Requests that spillway itself refused, and answers from a
// cache, never held a slot and are no samples.
type Sample struct {
	// Held is how long the call took to its first byte; of one that timed out,
	// how long it was waited for.
	Held time.Duration
	// Running is how many calls held a slot at that instant, this one included.
	Running int
	// Route tells calls apart that take different times by their nature; the
	// index of their class. Any number is right, see RoutesMax.
	Route int
	// Outcome tells an answer from a failure.
	Outcome reason.Reason
}

// verdict is what a sample says of the resource.
type verdict uint8

const (
	silent   verdict = iota // nothing: its caller left, or it was never called
	answered                // it took so long
	failed                  // it works, and not well: how long it took says nothing
	dropped                 // it did not answer in time: too much, or ill
)

// says reads a sample. A caller's own hanging up is no word of the resource: he
// may leave a healthy one as well.
func (s *Sample) says() verdict {
	switch s.Outcome {
	case reason.Served, reason.Accepted:
		return answered
	case reason.Failed:
		return failed
	case reason.Timeout, reason.Unknown:
		return dropped
	}
	return silent
}

// State is what there is to see of a limiter.
type State struct {
	Law   Law
	Limit int
	// FloorBinds says that it would be lower if it might: what is measured now
	// is measured under more load than the resource should have.
	FloorBinds bool
	// Baseline is how long a call takes when none waits for another inside the
	// resource; 0 while unknown or not followed. Over several routes: of the
	// latest samples' mixture.
	Baseline time.Duration
	// Latency is by how much calls took longer than that of late, 1 being not at
	// all; 0 while unknown.
	Latency float64
	// GivenWay is the part of the limit that is given away to pressure; see Pressure.
	GivenWay float64
	// Doing says in a word what it is at: "fixed", "steady", "rising", "looking
	// lower", "looking higher", "cutting", "giving way to pressure".
	Doing string
}

// Measured is what a limiter has learned, as a value: for an heir, and for a
// start that is not cold.
type Measured struct {
	Limit     float64         `json:"limit"`
	Baselines []time.Duration `json:"baselines_ns,omitempty"` // by route; 0: unknown
}

// Fixed is a limit that nothing measured can move.
type Fixed int

// Limit returns the figure itself, at least 1.
func (f Fixed) Limit() int { return max(int(f), 1) }

// Ended changes nothing.
func (Fixed) Ended(unit.Instant, Sample) {}

// State returns the figure.
func (f Fixed) State() State { return State{Law: Constant, Limit: f.Limit(), Doing: "fixed"} }

// Export returns the figure.
func (f Fixed) Export() Measured { return Measured{Limit: float64(f.Limit())} }

// Import changes nothing: what is configured counts.
func (Fixed) Import(Measured) {}
