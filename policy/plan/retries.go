package plan

import (
	"fmt"
	"math"
)

// planRetries multiplies the layers.
func (m *maker) planRetries(c *class, out *ClassPlan, fs *figures) {
	assumption := "every attempt fails at the bottom; one request can spend a budget's floor, so no budget is counted"
	if c.Call.Hedge.on() {
		assumption += "; the last 2 is a hedge beside each try"
	}
	out.Amplification = fs.add("amplification", Amplification(c.layers()...), "calls",
		"product of the attempts of each layer = "+product(c.layers()), assumption)

	assumption = "all calls fail for long"
	if c.Call.Hedge.on() {
		assumption += "; hedges are counted, though they stop while the upstream is slow as a whole"
	}
	out.SustainedAttempts = fs.add("sustained_attempts", c.sustainedAttempts(), "calls", c.attemptsFormula(), assumption)
	if c.Call.Retries > 0 && c.Call.Timeout > 0 {
		fs.add("longest_call_s", LongestCall(c.tries(), c.Call.Timeout, c.Call.Backoff).Seconds(), "s",
			fmt.Sprintf("attempts x call.timeout + longest pauses = %s x %s + %s", count(int64(c.tries())), dur(c.Call.Timeout), dur(LongestCall(c.tries(), 0, c.Call.Backoff))),
			"every try takes its limit and every pause its longest; the deadline ends it sooner")
	}
	if t := c.Call.Timeout; t > 0 {
		if share, of := c.shareOver(t.Seconds()); !math.IsNaN(share) {
			fs.add("share_over_timeout", share, "of calls", "share of "+of+" above call.timeout "+dur(t), "waits at the upstream come on top")
		}
	}
	m.planHedge(c, fs)
	m.warnRetries(c, float64(out.Amplification))
}

// shareOver is the share of calls that take longer than s seconds and what knows it:
// measurements where there are any, else the upstream's mix; NaN where neither is.
func (c *class) shareOver(s float64) (share float64, of string) {
	d := duration(float64(s * 1e9))
	switch {
	case len(c.Measured.Times) > 0:
		return shareOver(c.Measured.Times, d), "the calls measured"
	case c.up != nil && c.up.mean > 0:
		return ShareOver(c.up.Service, d), "the mix"
	}
	return math.NaN(), ""
}

// planHedge says how many calls are hedged while all is well.
func (m *maker) planHedge(c *class, fs *figures) {
	h := c.Call.Hedge
	if !h.on() {
		return
	}
	share, of := 1-float64(h.Percentile)/100, "of calls is slower by definition"
	formula := fmt.Sprintf("the slowest 1 - p%d", h.Percentile)
	if h.Percentile == 0 {
		if share, of = c.shareOver(h.After.Seconds()); math.IsNaN(share) {
			return
		}
		formula = "share of " + of + " above hedge.after " + dur(h.After)
	}
	cut := share
	if !h.BudgetOff && atLeastZero(h.Budget) < share {
		cut = atLeastZero(h.Budget)
		formula += ", cut to the budget"
		m.warn(c, c.where(), fmt.Sprintf("%s of calls are slower than hedge.after and the budget is %s: it goes to ordinary calls and is gone when a slow one comes; "+
			"raise hedge.after, to p95 for one", percent(share), percent(atLeastZero(h.Budget))))
	}
	fs.add("hedged_share", cut, "of calls", formula, "the upstream is well; two attempts are slow independently of each other")
}

// attemptsFormula says how sustained attempts come about.
func (c *class) attemptsFormula() string {
	formula := "attempts"
	if !c.Call.RetryBudgetOff && c.Call.Retries > 0 {
		formula = "min(attempts, 1 + retry budget) = min(" + count(int64(c.tries())) + ", 1 + " + percent(atLeastZero(c.Call.RetryBudget)) + ")"
	}
	switch h := c.Call.Hedge; {
	case h.on() && h.BudgetOff:
		formula = "2 x " + formula + ", a hedge beside each"
	case h.on():
		formula += " + hedge budget " + percent(atLeastZero(h.Budget))
	}
	return formula
}

func product(attempts []int) string {
	s := ""
	for i, a := range attempts {
		if i > 0 {
			s += " x "
		}
		s += count(int64(max(1, a)))
	}
	return s
}
