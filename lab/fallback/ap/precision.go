package ap

import (
	"cmp"
	"slices"
)

// A place is a customer in a ranking, packed for speed: the number shifted by
// two, whether it bought, and whether it is the last of its score.
type place uint32

const (
	lastOfScore place = 1
	bought      place = 2
)

func (p place) customer() int { return int(p >> 2) }

// ranking is the customers at one cutoff, best first.
type ranking []place

// rank orders customers by score, best first. Equal scores share a place, so
// that their order does not matter.
func rank(customers []int, buys []bool, scores []float64) ranking {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	r := make(ranking, len(order))
	for at, i := range order {
		r[at] = place(customers[i]) << 2
		if buys[i] {
			r[at] |= bought
		}
		if at+1 == len(order) || scores[order[at+1]] != scores[i] {
			r[at] |= lastOfScore
		}
	}
	return r
}

// precision is the average precision of a ranking in which customer c stands
// times[c] times: the sum over scores of the gain of recall x the precision
// down to that score. It reports false where nobody bought. Cost about 2 ns a
// customer.
func (r ranking) precision(times []uint8) (float64, bool) {
	var seen, hits, here uint64
	sum := 0.0
	for _, p := range r {
		n := uint64(times[p>>2])
		seen += n
		if p&bought != 0 {
			here += n
		}
		if p&lastOfScore != 0 && here > 0 {
			hits += here
			sum += float64(here) * (float64(hits) / float64(seen))
			here = 0
		}
	}
	if hits == 0 {
		return 0, false
	}
	return sum / float64(hits), true
}

// rankings are one a cutoff.
type rankings []ranking

// precision is the mean over the cutoffs at which anybody bought.
func (rs rankings) precision(times []uint8) (float64, bool) {
	sum, n := 0.0, 0
	for _, r := range rs {
		if p, any := r.precision(times); any {
			sum += p
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}
