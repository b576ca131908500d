package gap

import (
	"math"
	"time"

	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Rule says how a [Learner] learns. Zero fields take the defaults.
type Rule struct {
	// Buckets is how many there are at most. Default BucketsDefault, at most
	// BucketsMost.
	Buckets int
	// HalfLife is after how long a sample counts half. Default HalfLifeDefault.
	HalfLife time.Duration
	// Enough is from how many samples on an estimate counts. Default EnoughDefault.
	Enough int
}

// Defaults and bounds of a Rule.
const (
	BucketsDefault  = 64
	BucketsMost     = 1024
	HalfLifeDefault = time.Hour
	EnoughDefault   = 30
)

// WithDefaults returns the rule with what it leaves out filled in and what it
// exaggerates cut.
func (r Rule) WithDefaults() Rule {
	if r.Buckets <= 0 {
		r.Buckets = BucketsDefault
	}
	r.Buckets = min(r.Buckets, BucketsMost)
	if r.HalfLife <= 0 {
		r.HalfLife = HalfLifeDefault
	}
	if r.Enough <= 0 {
		r.Enough = EnoughDefault
	}
	return r
}

// Estimate is what is known of a bucket. Shares are from 0 to 1.
type Estimate struct {
	Bucket string
	// Samples is how many there are, the older ones counted in part.
	Samples float64
	// Mean is their mean distance, Lower and Upper what it is between, 95 %.
	Mean, Lower, Upper float64
	// Gap is what is used, if Known; else there are too few samples.
	Gap   shed.Gap
	Known bool
}

// Learner estimates the gap of each of a bounded number of buckets. It is not safe
// for concurrent use.
type Learner struct {
	rule    Rule
	buckets []bucket
	at      map[string]int // of a bucket, by its name
	outside int64          // samples of buckets that had no place
}

// bucket is what was measured of one bucket.
type bucket struct {
	name                 string
	weight, squares, sum float64 // of the samples' weights, their squares, weighted distances
	now                  unit.Instant
	credit               int64 // see place
	shown                shed.Gap
	known                bool
}

// NewLearner returns one that knows nothing.
func NewLearner(r Rule) *Learner {
	return &Learner{rule: r.WithDefaults(), at: make(map[string]int)}
}

// Reconfigure has it learn by another rule. What it knows stays, as far as there is
// room for it.
func (l *Learner) Reconfigure(r Rule) {
	l.rule = r.WithDefaults()
	for len(l.buckets) > l.rule.Buckets {
		l.remove(l.poorest())
	}
}

// Record takes in how far the cheaper answer to a request of a bucket was from the
// primary's. It takes constant time, but where a bucket has no place: then as long
// as it takes to look at all others.
func (l *Learner) Record(now unit.Instant, name string, distance shed.Gap) {
	b := l.place(now, name)
	if b == nil {
		l.outside++
		return
	}
	b.age(now, l.rule.HalfLife)
	b.weight++
	b.squares++
	b.sum += float64(min(max(distance, 0), shed.Useless)) / float64(shed.Useless)
	b.show(l.rule.Enough)
}

// Known returns the gap of each bucket of which enough is known. The map is the
// caller's.
func (l *Learner) Known(now unit.Instant) map[string]shed.Gap {
	known := make(map[string]shed.Gap)
	for i := range l.buckets {
		b := &l.buckets[i]
		b.age(now, l.rule.HalfLife)
		if b.show(l.rule.Enough); b.known {
			known[b.name] = b.shown
		}
	}
	return known
}

// Estimates returns what is known of each bucket, in the order in which they came,
// and how many samples were of buckets that had no place.
func (l *Learner) Estimates(now unit.Instant) (all []Estimate, outside int64) {
	for i := range l.buckets {
		b := &l.buckets[i]
		b.age(now, l.rule.HalfLife)
		b.show(l.rule.Enough)
		e := Estimate{Bucket: b.name, Samples: b.samples(), Gap: b.shown, Known: b.known, Upper: 1}
		if b.weight > 0 {
			e.Mean = b.sum / b.weight
			e.Lower, e.Upper = wilson(e.Mean, e.Samples)
		}
		all = append(all, e)
	}
	return all, l.outside
}

// aging is in how many steps a sample's weight halves.
const aging = 16

const (
	ageWeight  = 0.9576032806985737 // 2^(-1/16)
	ageSquares = 0.9170040432046712 // 2^(-1/8)
)

// age lets the samples grow older until now.
func (b *bucket) age(now unit.Instant, halfLife time.Duration) {
	step := max(halfLife/aging, 1)
	n := int64(now.Sub(b.now) / step)
	if n <= 0 {
		return
	}
	if b.now = b.now.Add(time.Duration(n) * step); n >= 64*aging {
		b.now = now
		b.weight, b.squares, b.sum, b.credit = 0, 0, 0, 0
		return
	}
	for ; n >= aging; n -= aging {
		b.weight, b.squares, b.sum = b.weight/2, b.squares/4, b.sum/2
	}
	for ; n > 0; n-- {
		b.weight, b.squares, b.sum = float64(b.weight*ageWeight), float64(b.squares*ageSquares), float64(b.sum*ageWeight)
	}
}

// samples is the effective number of samples: how many of equal weight would tell as
// much.
func (b *bucket) samples() float64 {
	if b.squares < 1e-12 {
		return 0
	}
	return min(b.weight*b.weight/b.squares, b.weight)
}

// step is by how much the upper bound must have moved before the gap does: a bucket's
// place among the others must not tremble with each sample.
const step = 10_000

// show works out the gap that is used.
func (b *bucket) show(enough int) {
	n := b.samples()
	was := b.known
	// Who is known stays so a little below the bound, or it would come and go.
	if b.known = n >= float64(enough) || was && n >= float64(enough)*0.75; !b.known {
		return
	}
	_, upper := wilson(b.sum/b.weight, n)
	if g := shed.GapOf(upper); !was || g > b.shown+step || g < b.shown-step {
		b.shown = g
	}
}

// z is how many standard deviations hold 95 %.
const z = 1.959963984540054

// wilson returns the score interval of a mean p of n samples from 0 to 1.
func wilson(p, n float64) (lower, upper float64) {
	if n <= 0 {
		return 0, 1
	}
	p = min(max(p, 0), 1)
	zz := float64(z * z)
	centre := p + zz/(2*n)
	half := float64(z * math.Sqrt(p*(1-p)/n+zz/(4*n*n)))
	whole := 1 + zz/n
	return max((centre-half)/whole, 0), min((centre+half)/whole, 1)
}
