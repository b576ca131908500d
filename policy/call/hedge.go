package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/estimate"
	"github.com/spillway-dev/spillway/policy/unit"
)

// The percentiles that are followed: two that State shows, and the one that a
// hedge waits for.
const (
	atMedian = iota
	atTail
	atHedge
)

// tailPercentile is what State shows beside the median, and what an attempt must have
// outlived to count as failed when a caller's own deadline cut it off.
const tailPercentile = 99

func quantiles(h Hedge) estimate.Quantiles {
	return estimate.NewQuantiles(50, tailPercentile, h.followed())
}

// followed is the percentile that is followed for hedges; where none is, it does not matter
// which.
func (h Hedge) followed() int {
	if h.Percentile == 0 {
		return tailPercentile
	}
	return h.Percentile
}

// samplesAbove is how many samples must lie above a percentile before it is
// believed: with ten, its rank is known to about a third.
const samplesAbove = 10

func measured(samples, percentile int) bool {
	return samples*(100-percentile) >= samplesAbove*100
}

// hedgeAfter is how long a first may take before another goes beside it; 0: for ever.
func (d *Dependency) hedgeAfter() time.Duration {
	h := &d.policy.Hedge
	if h.Percentile > 0 && measured(d.latency.Samples(), h.Percentile) {
		return d.latency.Upper(atHedge)
	}
	return h.After
}

// hedge sends a second attempt beside the first, or lets it be: then what is in
// flight goes on.
func (d *Dependency) hedge(now unit.Instant, c *Call) *Step {
	c.hedgeAt = unit.Never
	d.slow.add(true)
	switch {
	case !c.safety.twice(), d.slow.tops(d.policy.Hedge.SlowShare),
		now < d.pace.hold, !d.breaker.closed(now):
		d.count.HedgesHeld++
		return c.goOn(now)
	case !d.hedges.reserve(now):
		d.count.HedgesOverBudget++
		return c.goOn(now)
	}
	l, ok := d.admit(now, c)
	if !ok {
		d.hedges.release()
		d.count.HedgesHeld++
		return c.goOn(now)
	}
	d.send(now, c, l, hedged)
	s := c.sending(now)
	s.Hedge = true
	return s
}

// slow is the share of recent firsts that had not ended when a hedge was due,
// whether one was sent or not: an exponentially weighted mean over about 64 of
// them, in 65,536ths. At the 5 to 8 % a well-set delay lets through it strays by 2
// points; when all turn slow, 15 of them lift it above 20 %, and that is known one
// hedge delay after the first was sent, not one timeout.
type slow struct{ share int32 }

const (
	slowShift = 6
	slowWhole = 1 << 16
)

func (s *slow) add(outlived bool) {
	x := int32(0)
	if outlived {
		x = slowWhole
	}
	s.share += (x - s.share) >> slowShift
}

// tops reports whether the share is above so many percent.
func (s *slow) tops(percent float64) bool { return s.percent() > percent }

func (s *slow) percent() float64 { return float64(s.share) * 100 / slowWhole }
