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
)

// Take returns the copy that a request goes to, which is in flight there from
// now on, until Done. It is another than avoid if there is another; ok is
// false if there is no copy of any weight.
func (s *Spread) Take(now unit.Instant, avoid Copy) (c Copy, ok bool) {
	if now >= s.wake {
		s.readmit(now)
	}
	var all sum   // stays nothing where all weights are the same
	if s.uneven { // else the least loaded has the least of its part
		all = s.lookAtAll(now, avoid)
	}
	n := len(s.copies)
	best := None
	for i, at := 0, s.turn%max(n, 1); i < n; i, at = i+1, at+1 {
		if at == n {
			at = 0
		}
		k := &s.copies[at]
		if !k.candidate() {
			continue
		}
		if s.uneven {
			k.earn(all)
		} else {
			s.look(now, Copy(at), avoid)
		}
		if best == None || k.before(&s.copies[best]) {
			best = Copy(at)
		}
	}
	if best == None {
		return None, false
	}
	k := &s.copies[best]
	k.flying++
	k.credit = 0
	k.turns -= all.weight
	s.turn = (int(best) + 1) % n
	return best, true
}

// look notes what a copy is to a request of this instant.
func (s *Spread) look(now unit.Instant, c, avoid Copy) {
	k := &s.copies[c]
	k.seen = sight{grade: s.grade(now, k), load: k.load(now)}
	if c == avoid {
		k.seen.grade = avoided
	}
}

// lookAtAll looks at each candidate, and returns what all of them have.
func (s *Spread) lookAtAll(now unit.Instant, avoid Copy) (all sum) {
	for i := range s.copies {
		if k := &s.copies[i]; k.candidate() {
			s.look(now, Copy(i), avoid)
			all.load += k.seen.load
			all.weight += k.weight
		}
	}
	return all
}

// candidate reports whether the copy may be given a request at all.
func (k *one) candidate() bool { return k.used && !k.resting() && !k.out }

// grade says what the copy is to a request, and counts the turn if it starts
// slowly.
func (s *Spread) grade(now unit.Instant, k *one) int {
	ramping := false
	if k.ramp > 0 {
		if part := k.part(now); part < partsOfOne {
			k.credit = min(k.credit+max(part*k.weight/s.weights, 1), partsOfOne)
			ramping = k.credit < partsOfOne
		}
	}
	switch {
	case k.flying >= k.most:
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
