package ledger

import (
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Clock is a store's time, made of a clock that is not trusted. What passes while
// the process runs is taken from the machine's monotonic clock, where the time has
// one; across a restart from the calendar, where it has not run back. The zero
// Clock begins with the first time it is told.
type Clock struct {
	run  unit.Instant
	last time.Time
}

// Resume returns the clock of a store that was last written at t.
func Resume(t quota.Time) Clock {
	return Clock{run: t.Run, last: time.Unix(0, int64(t.Wall))}
}

// At returns the store's time when the machine's clock shows now.
func (c *Clock) At(now time.Time) quota.Time {
	if !c.last.IsZero() {
		c.run = c.run.Add(max(now.Sub(c.last), 0))
	}
	c.last = now
	return quota.Time{Run: c.run, Wall: unit.Instant(now.UnixNano())}
}
