package parts

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Clock counts from a round's start, the same instant in every part. The wall clock
// is read once, monotonic time goes on from there.
type Clock struct{ Start time.Time }

// NewClock returns the clock of a round that starts at so many ns since 1970.
func NewClock(startNs int64) Clock {
	now := time.Now()
	return Clock{now.Add(time.Unix(0, startNs).Sub(now))}
}

// Now is the instant that it is.
func (c Clock) Now() unit.Instant { return unit.Instant(time.Since(c.Start)) }

// At is a time as an instant of the round.
func (c Clock) At(t time.Time) unit.Instant { return unit.Instant(t.Sub(c.Start)) }

// Time is an instant of the round as a time.
func (c Clock) Time(t unit.Instant) time.Time { return c.Start.Add(time.Duration(t)) }
