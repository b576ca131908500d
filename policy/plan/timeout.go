package plan

import (
	"fmt"
	"math"
	"time"
)

// DefaultFalseTimeouts is one call in a thousand: the rate that "Timeouts, retries and
// backoff with jitter" (AWS Builders' Library) takes for its example.
const DefaultFalseTimeouts = 0.001

// Measured is what calls took, as a sample.
type Measured struct {
	// Times is sorted, the shortest first. It may be a sample: Count calls it stands
	// for, at least its own length.
	Times []time.Duration
	Count int64
	// From names where it comes from, for sentences.
	From string
}

// TimeoutFor is the least time that no more than share of a service mix exceeds; 0
// for a mix without weight.
func TimeoutFor(mix []ServicePart, share float64) time.Duration {
	var least time.Duration
	found := false
	for _, p := range mix {
		if over := ShareOver(mix, p.Time); over <= share && atLeastZero(p.Weight) > 0 && (!found || p.Time < least) {
			least, found = p.Time, true
		}
	}
	return max(0, least)
}

// TimeoutOf is the least of the sorted times that no more than share of them exceed,
// and the ends of its 95 % confidence range: order statistics of a binomial count, by
// its normal approximation. The range is open above, high = 0, where too few were
// measured to say how long the rest may be. All are 0 for no times.
func TimeoutOf(sorted []time.Duration, share float64) (at, low, high time.Duration) {
	n := len(sorted)
	if n == 0 {
		return 0, 0, 0
	}
	share = min(max(atLeastZero(share), 0), 1)
	over := float64(float64(n) * share) // how many may be longer
	spread := float64(1.96 * math.Sqrt(float64(over*(1-share))))
	place := func(longer float64) int { return min(max(n-1-int(math.Floor(longer)), 0), n-1) }
	at, low = sorted[place(over)], sorted[place(over+spread)]
	if longer := over - spread; longer >= 1 {
		high = sorted[place(longer)]
	}
	return at, low, high
}

// shareOver is the share of sorted times above d.
func shareOver(sorted []time.Duration, d time.Duration) float64 {
	lo, hi := 0, len(sorted)
	for lo < hi {
		if mid := (lo + hi) / 2; sorted[mid] <= d {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return ratio(float64(len(sorted)-lo), float64(len(sorted)))
}

// planTimeout proposes a limit of a try, from measurements where there are any.
func (m *maker) planTimeout(c *class, out *ClassPlan, fs *figures) {
	out.ProposedTimeoutS = Number(math.NaN())
	accepted := percent(m.falsely)
	switch times := c.Measured.Times; {
	case len(times) > 0:
		at, low, high := TimeoutOf(times, m.falsely)
		until := dur(high)
		if high == 0 {
			until = "more than was seen"
		}
		n := max(c.Measured.Count, int64(len(times)))
		out.ProposedTimeoutS = fs.add("proposed_timeout_s", at.Seconds(), "s",
			fmt.Sprintf("least time that all but %s of %s stay within; 95 %% range %s to %s", accepted, plural(n, "call"), dur(low), until),
			"calls are like those of "+orDefault(c.Measured.From, "the measurement")+", none of which was cut off or waited in a queue that a limit would have kept short")
		fs.add("proposed_timeout_low_s", low.Seconds(), "s", "lower end of that range", "calls are independent")
		if high > 0 {
			fs.add("proposed_timeout_high_s", high.Seconds(), "s", "upper end of that range", "calls are independent")
		}
		m.warnMeasured(c, at, high)
	case c.up != nil && c.up.mean > 0:
		at := TimeoutFor(c.up.Service, m.falsely)
		assumption := "the mix holds under load and says how long the longest take"
		if c.limit() > 0 && c.Deadline > 0 && at > c.Deadline {
			assumption += fmt.Sprintf("; deadline %s ends sooner: %s are late whatever the limit", dur(c.Deadline), percent(ShareOver(c.up.Service, c.Deadline)))
		}
		out.ProposedTimeoutS = fs.add("proposed_timeout_s", at.Seconds(), "s",
			fmt.Sprintf("least time that all but %s of the service mix stay within", accepted), assumption)
	}
}

// warnMeasured warns of too few measurements, and of a limit that cuts off more than
// is accepted.
func (m *maker) warnMeasured(c *class, at, high time.Duration) {
	if high == 0 {
		m.warn(c, c.where(), fmt.Sprintf("%s are too few to propose a timeout at %s false ones; measure %s or more, or accept more",
			plural(int64(len(c.Measured.Times)), "measured call"), percent(m.falsely), count(whole(math.Ceil(8/m.falsely)))))
	}
	if t := c.Call.Timeout; t > 0 && at > t {
		m.warn(c, c.where(), fmt.Sprintf("call.timeout %s cuts off %s of the calls measured, more than the accepted %s; %s would not",
			dur(t), percent(shareOver(c.Measured.Times, t)), percent(m.falsely), dur(at)))
	}
}
