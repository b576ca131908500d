package unit

import (
	"math"
	"time"
)

// An Instant is a point in time in nanoseconds since an epoch that the driver
// chose: process start for the live gate, zero for the simulator. It is
// monotonic; the wall clock never enters policy.
type Instant int64

// Never is later than every instant that happens.
const Never Instant = math.MaxInt64

// Add returns the instant d after t, saturating at Never and at the earliest
// representable instant instead of wrapping around.
func (t Instant) Add(d time.Duration) Instant {
	s := t + Instant(d)
	switch {
	case d >= 0 && s < t:
		return Never
	case d < 0 && s > t:
		return math.MinInt64
	}
	return s
}

// Sub returns how much later t is than u, saturating like Add.
func (t Instant) Sub(u Instant) time.Duration {
	d := t - u
	switch {
	case t >= u && d < 0:
		return math.MaxInt64
	case t < u && d > 0:
		return math.MinInt64
	}
	return time.Duration(d)
}

// String prints the instant as the duration since the epoch.
func (t Instant) String() string {
	if t == Never {
		return "never"
	}
	return time.Duration(t).String()
}

// Cost is how much of a resource one request takes, in units that the
// operator chose (tokens, bytes, rows). One is the cost of a request about
// which nothing is known.
type Cost int64

// CostMax bounds a single cost. Sums over any queue that fits in memory stay
// far from overflow.
const CostMax Cost = 1 << 40

// Clamp returns c cut to 1 .. CostMax.
func (c Cost) Clamp() Cost { return min(max(c, 1), CostMax) }
