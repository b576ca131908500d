package limit

import (
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A Limiter is told of every call that ended and answers how many may run.
// It is not safe for concurrent use.
type Limiter interface {
	// Limit returns how many requests may hold a slot now, at least 1.
	Limit() int
	// Ended takes in one call that held a slot and gave it back.
	Ended(now unit.Instant, s Sample)
}

// A Sample is what is known of one call when it gives its slot back.
type Sample struct {
	// Held is how long the slot was taken.
	Held time.Duration
	// Running is how many calls held a slot at that instant, this one included.
	Running int
	// Outcome tells an answer from a failure. Requests that spillway itself
	// refused never held a slot and are no samples.
	Outcome reason.Reason
}

// Fixed is a limit that nothing measured can move.
type Fixed int

// Limit returns the figure itself, at least 1.
func (f Fixed) Limit() int { return max(int(f), 1) }

// Ended changes nothing.
func (Fixed) Ended(unit.Instant, Sample) {}
