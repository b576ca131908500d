package rate

import (
	"math"
	"time"
)

// Rule is what one client may ask. The zero Rule limits nothing.
type Rule struct {
	// Burst is how many requests a client that was silent may make at once,
	// at least 1; less counts as 1. It means nothing without Interval.
	Burst int64
	// Interval is the time between two requests at the sustained rate; 0 or
	// less: there is no limit in time.
	Interval time.Duration
	// Concurrent is how many requests of a client may be under way at once,
	// waiting, running or abandoned; 0 or less: any number.
	Concurrent int32
}

// IsZero reports whether the rule limits nothing.
func (r *Rule) IsZero() bool { return r.Interval <= 0 && r.Concurrent <= 0 }

// slack is how far ahead of now a bucket may be full and still have room for
// one more. It is cut to a value from which no instant can overflow.
func (r *Rule) slack() time.Duration {
	return time.Duration(min(max(r.Burst, 1)-1, slackMax/int64(r.Interval))) * r.Interval
}

// slackMax is 73 years, in nanoseconds.
const slackMax = math.MaxInt64 / 4

// Interval returns the time between two requests at a rate, at least one
// nanosecond, rounded to the nearest; 0, which is no limit, for a rate that is
// not positive.
func Interval(perSecond float64) time.Duration {
	if !(perSecond > 0) {
		return 0
	}
	d := math.Round(float64(time.Second) / perSecond)
	if d >= slackMax {
		return slackMax
	}
	return max(time.Duration(d), 1)
}
