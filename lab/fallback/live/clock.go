package live

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// clock counts from a round's start, the same instant in every part. The wall clock
// is read once, monotonic time goes on from there.
type clock struct{ start time.Time }

func newClock(startNs int64) clock {
	now := time.Now()
	return clock{now.Add(time.Unix(0, startNs).Sub(now))}
}

func (c clock) now() unit.Instant { return unit.Instant(time.Since(c.start)) }

func (c clock) at(t time.Time) unit.Instant { return unit.Instant(t.Sub(c.start)) }

func (c clock) time(t unit.Instant) time.Time { return c.start.Add(time.Duration(t)) }
