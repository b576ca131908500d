package ap

import (
	"slices"

	"github.com/spillway-dev/spillway/workload/dice"
)

// resamples are draws of as many customers as there are, with replacement. What
// is kept is how often each customer was drawn into each resample: a byte, eight
// resamples to a word, so that one addition counts a customer into eight at once.
type resamples struct {
	n     int        // of them
	words int        // for them
	times [][]uint64 // by customer; nil for one who is never ranked
	most  int        // that any customer was drawn into any
}

const lanes = 8 // bytes of a word

// draw draws n resamples of the customers that any ranking names.
func draw(seed uint64, n, customers int, rs rankings) *resamples {
	s := &resamples{n: n, words: (n + lanes - 1) / lanes, times: make([][]uint64, customers)}
	for _, r := range rs {
		for _, p := range r {
			s.times[p.customer()] = make([]uint64, 0)
		}
	}
	var pool [][]uint64
	for c, ranked := range s.times {
		if ranked != nil {
			s.times[c] = make([]uint64, s.words)
			pool = append(pool, s.times[c])
		}
	}
	d := dice.New(seed, "ap/bootstrap")
	eight := make([]uint64, len(pool)) // a word of each, side by side: the draws go everywhere
	for word := range s.words {
		clear(eight)
		for l := range min(lanes, n-word*lanes) {
			for range pool {
				t := &eight[d.Intn(len(pool))]
				if here := int(*t >> (8 * l) & 0xff); here < 0xff { // more is as good as impossible
					*t += 1 << (8 * l)
					s.most = max(s.most, here+1)
				}
			}
		}
		for i, t := range eight {
			pool[i][word] = t
		}
	}
	return s
}

// over is the average precision in each resample: the mean over the cutoffs at
// which anybody in it bought, and 0 where nobody did at any.
func (rs rankings) over(s *resamples) []float64 {
	sums, cutoffs := make([]float64, s.n), make([]float64, s.n)
	c := newCount(s)
	for _, r := range rs {
		c.through(r)
		for i := range sums {
			if c.hits[i] > 0 {
				sums[i] += c.sum[i] / float64(c.hits[i])
				cutoffs[i]++
			}
		}
	}
	for i, n := range cutoffs {
		if n > 0 {
			sums[i] /= n
		}
	}
	return sums
}

// count goes down a ranking in all resamples at once. Rows are counted into
// bytes; before one could overflow, and where precision is asked for, the bytes
// are emptied into the sums.
type count struct {
	s                  *resamples
	rows, buyers       []uint64 // since emptied
	n                  int      // rows in them
	seen, gained, hits []int32  // customers so far; buyers of this score; buyers above it
	sum                []float64
	anyBuyer           bool // of this score
}

func newCount(s *resamples) *count {
	n := s.words * lanes
	return &count{
		s: s, rows: make([]uint64, s.words), buyers: make([]uint64, s.words),
		seen: make([]int32, n), gained: make([]int32, n), hits: make([]int32, n), sum: make([]float64, n),
	}
}

// through counts a ranking, as ranking.precision does for one.
func (c *count) through(r ranking) {
	clear(c.rows)
	clear(c.buyers)
	clear(c.seen)
	clear(c.gained)
	clear(c.hits)
	clear(c.sum)
	c.n, c.anyBuyer = 0, false
	for _, p := range r {
		times := c.s.times[p.customer()]
		for i, t := range times {
			c.rows[i] += t
		}
		if c.n++; p&bought != 0 {
			c.anyBuyer = true
			for i, t := range times {
				c.buyers[i] += t
			}
		}
		last := p&lastOfScore != 0 && c.anyBuyer
		if last || (c.n+1)*c.s.most > 0xff {
			c.empty()
		}
		if last {
			c.settle()
		}
	}
}

// empty adds the bytes to the sums.
func (c *count) empty() {
	for i, rows := range c.rows {
		seen, gained := (*[lanes]int32)(c.seen[i*lanes:]), (*[lanes]int32)(c.gained[i*lanes:])
		buyers := c.buyers[i]
		for l := range seen {
			seen[l] += int32(rows & 0xff)
			gained[l] += int32(buyers & 0xff)
			rows, buyers = rows>>8, buyers>>8
		}
		c.rows[i], c.buyers[i] = 0, 0
	}
	c.n = 0
}

// settle adds the buyers of a score at the precision down to it.
func (c *count) settle() {
	for i, gained := range c.gained {
		c.hits[i] += gained
		c.sum[i] += float64(float64(gained) * (float64(c.hits[i]) / float64(max(c.seen[i], 1))))
		c.gained[i] = 0
	}
	c.anyBuyer = false
}

// each is every customer once.
func each(customers int) []uint8 {
	times := make([]uint8, customers)
	for i := range times {
		times[i] = 1
	}
	return times
}

// middle returns the ends between which the middle 95 % of values lie, between
// neighbours in proportion. It sorts them.
func middle(values []float64) (low, high float64) {
	slices.Sort(values)
	at := func(share float64) float64 {
		place := share * float64(len(values)-1)
		i := int(place)
		if i+1 == len(values) {
			return values[i]
		}
		return values[i] + float64((place-float64(i))*(values[i+1]-values[i]))
	}
	return at(0.025), at(0.975)
}
