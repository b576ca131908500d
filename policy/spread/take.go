package spread

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// partsOfOne is a whole turn of a copy that starts slowly, and rampLeast the
// part of its turns that it gets from the first moment on.
const (
	partsOfOne = 1 << 10
	rampLeast  = partsOfOne / 10
)

// sourFor is how long a failure counts as a request in flight; of many, half of
// them count for twice as long and so on.
const sourFor = time.Second

// sourMost keeps one copy's past from outweighing any load for minutes.
const sourMost = 1 << 12

// What a copy can be to a request, best first.
const (
	ready     = iota
	unready   // starting slowly, and not its turn
	saturated // it has all it can work on
	avoided   // the caller would rather have another
	unfit
)

// Take returns the copy that a request goes to, which is in flight there from
// now on, until Done. It is another than avoid if there is another; ok is
// false if there is no copy at all.
func (s *Spread) Take(now unit.Instant, avoid Copy) (c Copy, ok bool) {
	if now >= s.wake {
		s.readmit(now)
	}
	best, grade, least := None, unfit, 0
	n := len(s.copies)
	limit := s.limit()
	for i, at := 0, s.turn; i < n; i, at = i+1, at+1 {
		at %= n
		k := &s.copies[at]
		if !k.used || k.draining || k.out {
			continue
		}
		g := s.grade(now, k, limit)
		if Copy(at) == avoid {
			g = avoided
		}
		if load := k.load(now); g < grade || g == grade && load < least {
			best, grade, least = Copy(at), g, load
		}
	}
	if best == None {
		return None, false
	}
	k := &s.copies[best]
	k.flying++
	k.credit = 0
	s.turn = (int(best) + 1) % n
	return best, true
}

// grade says what the copy is to a request, and counts the turn if it starts
// slowly.
func (s *Spread) grade(now unit.Instant, k *one, limit int) int {
	ramping := false
	if k.ramp > 0 {
		if part := k.part(now); part < partsOfOne {
			k.credit = min(k.credit+max(part/s.count, 1), partsOfOne)
			ramping = k.credit < partsOfOne
		}
	}
	switch {
	case k.flying >= limit:
		return saturated
	case ramping:
		return unready
	}
	return ready
}

// part returns how much of its turns the copy gets, in partsOfOne, and ends its
// slow start when that is all of them.
func (k *one) part(now unit.Instant) int {
	passed := now.Sub(k.back)
	if passed >= k.ramp {
		k.ramp = 0
		return partsOfOne
	}
	return max(int(int64(passed)/(int64(k.ramp)/partsOfOne)), rampLeast)
}

func (k *one) startSlowly(now unit.Instant, away time.Duration) {
	k.back, k.ramp, k.credit = now, min(max(away, RampMin), RampMax), 0
}

// limit returns how much a copy is given before it counts as saturated.
func (s *Spread) limit() int {
	const unlimited = 1 << 30
	limit := unlimited
	if s.cfg.Slots > 0 && s.count > 0 {
		limit = (s.cfg.Slots + s.count - 1) / s.count
	}
	if s.cfg.Connections > 0 {
		limit = min(limit, s.cfg.Connections)
	}
	return limit
}

// load is what the copy works on, and what soured lately.
func (k *one) load(now unit.Instant) int { return k.flying + k.sourness(now) }

func (k *one) sourness(now unit.Instant) int {
	if k.sour == 0 {
		return 0
	}
	return k.sour >> min(max(now.Sub(k.soured)/sourFor, 0), 63)
}

func (k *one) souring(now unit.Instant) {
	left := k.sourness(now)
	if left == 0 || now.Sub(k.soured) >= sourFor {
		k.soured = now
	} else {
		left = k.sour
	}
	k.sour = min(left+1, sourMost)
}
