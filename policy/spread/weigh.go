package spread

import "github.com/spillway-dev/spillway/policy/unit"

// WeightMax is the largest weight: a thousandth is as fine as anybody can tell
// services apart.
const WeightMax = 1000

// Weigh gives the copy another weight, 0 to WeightMax; it came with 1. At 0 it
// rests: it ends what it has and gets nothing new, and is none of those of whom a
// share may be out. When it is given a weight again it starts slowly, as one
// that was out for as long as it rested.
func (s *Spread) Weigh(now unit.Instant, c Copy, weight int) {
	k := &s.copies[c]
	weight = min(max(weight, 0), WeightMax)
	if !k.used || k.draining || k.weight == weight {
		return
	}
	before := k.weight
	k.weight = weight
	s.weights += weight - before
	switch {
	case weight == 0:
		k.rested = now
		s.open--
		s.forgive(c)
	case before == 0:
		s.open++
		k.startSlowly(now, now.Sub(k.rested))
	}
	s.deal()
	s.settle(now, c)
}

// unlimited is what a copy is given if nothing is known of what it can do.
const unlimited = 1 << 30

// deal says of every copy how much it is given before it counts as saturated.
func (s *Spread) deal() {
	s.uneven = false
	for i := range s.copies {
		k := &s.copies[i]
		// Where all are of the same weight, all of them together are so many times one.
		s.uneven = s.uneven || !k.resting() && k.weight*s.open != s.weights
		k.turns, k.most = 0, unlimited
		if s.cfg.Slots > 0 && s.weights > 0 {
			k.most = Part(s.cfg.Slots, k.weight, s.weights)
		}
		if s.cfg.Connections > 0 {
			k.most = min(k.most, s.cfg.Connections)
		}
	}
}

// resting reports whether the copy gets nothing new, for good or for as long as it
// has no weight.
func (k *one) resting() bool { return k.draining || k.weight == 0 }

// Part returns the part of slots that falls to a weight of all the weights, rounded up, so
// that the parts together are never less than the slots.
func Part(slots, weight, weights int) int {
	return int((int64(slots)*int64(weight) + int64(weights) - 1) / int64(weights))
}
