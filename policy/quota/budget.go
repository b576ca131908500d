package quota

import (
	"math"
	"math/bits"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Budget is the state of one limit: what a store keeps in a row. It is a value;
// copies are independent.
//
//	slots      Held are taken, Most - Held are free
//	all others Left can be spent; Held of what was spent may yet be corrected
type Budget struct {
	Limit Limit
	// Left is what can be spent now, as of At. It is below 0 where calls used more
	// than was estimated, or the limit was lowered below what had been used.
	Left int64
	// Part is what a bucket has refilled of its next unit, in Every-ths of one.
	Part int64
	// Held is the sum over the reservations whose use is not known.
	Held int64
	// Spent is all that was ever taken, as corrected since: what an audit adds up
	// from the reservations.
	Spent int64
	// At is up to when Left is worked out: by Time.Run for a bucket, by Time.Wall for
	// a window.
	At unit.Instant
	// Frees is for slots: when, by Time.Run, the first of those held is expected to
	// come free, as far as the store knows; 0 where it does not. It decides nothing,
	// callers are told it.
	Frees unit.Instant
}

// NewBudget returns the state of a limit of which nothing has been used.
func NewBudget(l Limit, now Time) Budget {
	return Budget{Limit: l, Left: l.Most, At: now.of(&l)}
}

// of is the clock that a limit goes by.
func (t Time) of(l *Limit) unit.Instant {
	if l.Windowed() {
		return t.Wall
	}
	return t.Run
}

// advanced returns the budget as it is then. What lies before its own instant
// changes nothing.
func (b Budget) advanced(t Time) Budget {
	now := t.of(&b.Limit)
	if now <= b.At || b.Limit.Unit == Concurrent {
		return b
	}
	if !b.Limit.Windowed() {
		b.refill(uint64(now.Sub(b.At)))
	} else if _, next := b.Limit.Window.bounds(b.At); now >= next {
		b.Left = b.Limit.Most
	}
	b.At = now
	return b
}

// refill adds what a bucket gains in so many nanoseconds, exactly.
func (b *Budget) refill(ns uint64) {
	l := &b.Limit
	lacks := l.Most - b.Left
	if lacks <= 0 {
		b.Part = 0
		return
	}
	hi, lo := bits.Mul64(ns, uint64(l.Refill))
	lo, carry := bits.Add64(lo, uint64(b.Part), 0)
	if hi += carry; hi >= uint64(l.Every) { // more units than 64 bits hold
		b.Left, b.Part = l.Most, 0
		return
	}
	gain, part := bits.Div64(hi, lo, uint64(l.Every))
	if gain >= uint64(lacks) {
		b.Left, b.Part = l.Most, 0
		return
	}
	b.Left += int64(gain)
	b.Part = int64(part)
}

// fits returns in how long so much can be taken that there is no room for, if
// nobody else comes first; Forever if it is more than the limit.
func (b *Budget) fits(want int64, t Time) time.Duration {
	l := &b.Limit
	now := t.of(l)
	switch {
	case want > l.Most:
		return Forever
	case l.Unit == Concurrent:
		return max(b.Frees.Sub(now), 0)
	case l.Windowed():
		_, next := l.Window.bounds(b.At)
		return next.Sub(now)
	}
	return b.At.Add(b.lasts(want - b.Left)).Sub(now)
}

// lasts is how long a bucket takes to gain n units, rounded up to a nanosecond.
func (b *Budget) lasts(n int64) time.Duration {
	l := &b.Limit
	hi, lo := bits.Mul64(uint64(n), uint64(l.Every))
	lo, borrow := bits.Sub64(lo, uint64(b.Part), 0)
	hi -= borrow
	lo, carry := bits.Add64(lo, uint64(l.Refill)-1, 0)
	if hi += carry; hi >= uint64(l.Refill) {
		return math.MaxInt64
	}
	ns, _ := bits.Div64(hi, lo, uint64(l.Refill))
	return time.Duration(min(ns, math.MaxInt64))
}

// Relimit puts another limit in the place of the budget's, which applies at once:
// what has been used of the old one has been used of the new one. The unit is the
// same.
func (b *Budget) Relimit(now Time, l Limit) {
	*b = b.advanced(now)
	if l.Every != b.Limit.Every {
		b.Part = 0
	}
	if l.Windowed() != b.Limit.Windowed() { // it goes by the other clock
		b.At = now.of(&l)
	}
	b.Left += l.Most - b.Limit.Most
	b.Limit = l
}

// Lower takes over what the provider says is left, where that is less: it knows of
// calls that we do not. What we know of and it does not is not added.
func (b *Budget) Lower(now Time, left int64) {
	if b.Limit.Unit != Concurrent {
		*b = b.advanced(now)
		b.Left = min(b.Left, max(left, 0))
	}
}

// Free returns what can be taken now: free slots, or what is left; never below 0.
func (b Budget) Free(now Time) int64 {
	if b.Limit.Unit == Concurrent {
		return max(b.Limit.Most-b.Held, 0)
	}
	return max(b.advanced(now).Left, 0)
}
