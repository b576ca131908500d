package sim

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/workload/dice"
)

// Callers is how other people's clients behave: a model of what the boundary
// meets, not a policy. The zero value waits for its answer and never tries
// again.
type Callers struct {
	// Patience is how long a caller waits for one attempt before it hangs up,
	// telling nobody beforehand. Zero: as long as it takes.
	Patience time.Duration
	// Retries is how many attempts may follow the first, after anything but an
	// answer.
	Retries int
	// Within is how long after its first attempt a caller still starts
	// another. Zero: always.
	Within  time.Duration
	Backoff Backoff
	// HonourRetryAfter makes a caller wait at least as long as it was told to,
	// and not come back where it was told not to (dropped, unknown).
	HonourRetryAfter bool
	// Budget bounds the retries of all callers of the stream together.
	Budget Budget

	// Library, if not nil, has the callers use Spillway's client library with that
	// policy, and nothing above is looked at. Deadline is for the whole call, where
	// the arrival names none; zero: none. With PassDeadline each attempt names what
	// it is allowed.
	Library      *call.Policy
	Deadline     time.Duration
	PassDeadline bool
}

// Backoff is the pause before another attempt. The zero value is none.
type Backoff struct {
	// Base is the first pause.
	Base time.Duration
	// Exponential doubles it with each attempt, up to Max if that is positive.
	Exponential bool
	Max         time.Duration
	// FullJitter draws each pause evenly between zero and that.
	FullJitter bool
}

// Budget is a token bucket: a retry takes one token and is not made where
// there is none. The zero value has no limit.
type Budget struct {
	Share     float64 // tokens that each first attempt earns: 0.1 is one retry to ten requests
	PerSecond float64 // tokens that time earns
	// Burst is the most that are kept, and what there is at the start; it must
	// be at least 1 where there is a limit.
	Burst float64
}

// limited reports whether there is a limit at all.
func (b Budget) limited() bool { return b != Budget{} }

func (c *Callers) validate() error {
	if c.Patience < 0 || c.Within < 0 || c.Backoff.Base < 0 || c.Backoff.Max < 0 {
		return fmt.Errorf("callers: patience %v, within %v, backoff %v up to %v: none may be negative",
			c.Patience, c.Within, c.Backoff.Base, c.Backoff.Max)
	}
	if c.Retries < 0 || c.Retries > retriesMax {
		return fmt.Errorf("callers: %d retries; 0 to %d", c.Retries, retriesMax)
	}
	if b := c.Budget; b.limited() && !(b.Share >= 0 && b.Share <= 1000 && b.PerSecond >= 0 && b.PerSecond <= 1e9 && b.Burst >= 1 && b.Burst <= 1e9) {
		return fmt.Errorf("callers: retry budget %+v: share 0 to 1000, per second 0 to 1e9, burst 1 to 1e9", b)
	}
	return nil
}

// retriesMax bounds attempts to what a 16-bit counter and a doubling pause can
// hold; clients in the field stop at 10.
const retriesMax = 1000

// pause returns how long the caller waits before attempt number next (1 is the
// first retry).
func (b Backoff) pause(next int, d *dice.Dice) time.Duration {
	pause := b.Base
	if b.Exponential {
		limit := b.Max
		if limit <= 0 {
			limit = time.Hour
		}
		for range next - 1 {
			if pause >= limit {
				break
			}
			pause *= 2
		}
		pause = min(pause, limit)
	}
	if b.FullJitter && pause > 0 {
		pause = time.Duration(d.Intn(int(pause) + 1))
	}
	return pause
}

// wants reports whether the caller would try again after such an end, its
// retries, time and budget apart.
func (c *Callers) wants(why reason.Reason) bool {
	switch why.Kind() {
	case reason.KindDone, reason.KindInput:
		return false
	}
	told := why == reason.Dropped || why == reason.Unknown
	return !(c.HonourRetryAfter && told)
}

// bucket is the state of a Budget, in billionths of a token so that sums are
// exact.
type bucket struct {
	Budget
	tokens int64
	at     unit.Instant
}

const token = 1e9

func newBucket(b Budget) bucket { return bucket{Budget: b, tokens: int64(b.Burst * token)} }

// earn credits a first attempt.
func (b *bucket) earn() {
	if b.Share > 0 {
		b.credit(float64(b.Share * token))
	}
}

func (b *bucket) credit(amount float64) {
	most := float64(b.Burst * token)
	b.tokens = int64(min(float64(b.tokens)+amount, most))
}

// take takes a token, if there is one.
func (b *bucket) take(now unit.Instant) bool {
	if !b.limited() {
		return true
	}
	if b.PerSecond > 0 {
		b.credit(float64(float64(now-b.at) * b.PerSecond)) // tokens/s x ns = billionths
		b.at = now
	}
	if b.tokens < token {
		return false
	}
	b.tokens -= token
	return true
}
