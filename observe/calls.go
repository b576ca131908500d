package observe

import (
	"time"

	"github.com/spillway-dev/spillway/policy/call"
)

// Call is what is known at a scrape of how a class calls its upstream.
type Call struct {
	Resource, Class string
	call.State
	// Hold is for how long still the upstream has asked to be left alone.
	Hold time.Duration
	// RetriesFree and HedgesFree say that no budget bounds them.
	RetriesFree, HedgesFree bool
}

var (
	perKind = []string{"resource", "class", "kind"}

	callsBegun   = Definition{"spillway_calls_total", "counter", perClass, "Calls of the upstream by classes with more than a timeout in call; each has one attempt or several, or none where it was held. A reload keeps the counts."}
	callsOK      = Definition{"spillway_calls_answered_total", "counter", perClass, "Calls that the upstream answered well, by whichever attempt."}
	callAttempts = Definition{"spillway_call_attempts_total", "counter", perClass, "Attempts: first ones, retries and hedges. Divided by spillway_calls_total: what the upstream gets for each request."}
	callMore     = Definition{"spillway_call_more_attempts_total", "counter", perKind, "Attempts beside the first, as they left: retries, and hedges beside one that is slow."}
	callHedgeWon = Definition{"spillway_call_hedges_won_total", "counter", perClass, "Hedges that answered before the attempt they were sent beside."}
	callOver     = Definition{"spillway_call_over_budget_total", "counter", perKind, "Retries and hedges that were due and that the budget forbade."}
	callHeld     = Definition{"spillway_call_held_total", "counter", []string{"resource", "class", "by"}, "Attempts that were not sent: by the breaker, by the throttle, and hedges let be because the upstream was slow as a whole, unwell or had asked to be left alone, or the request may not run twice."}
	callBudget   = Definition{"spillway_call_budget_left", "gauge", perKind, "How many retries and hedges could be sent now. Left out where budget is off."}
	callBreaker  = Definition{"spillway_call_breaker", "gauge", []string{"resource", "class", "state"}, "1 for the state that the breaker is in, 0 for the others. One that is not configured is closed."}
	callThrottle = Definition{"spillway_call_throttled_ratio", "gauge", perClass, "Share of attempts that the throttle would hold back now."}
	callHold     = Definition{"spillway_call_hold_seconds", "gauge", perClass, "For how long still the upstream has asked to be left alone."}
	callHedge    = Definition{"spillway_call_hedge_after_seconds", "gauge", perClass, "How long a first attempt may take now before another goes beside it; 0: none does."}
	callSlow     = Definition{"spillway_call_slow_ratio", "gauge", perClass, "Share of recent first attempts that took longer than that."}
	callMedian   = Definition{"spillway_call_attempt_median_seconds", "gauge", perClass, "What half of the attempts take that are answered or cut off; 0 while none was."}
	callTail     = Definition{"spillway_call_attempt_p99_seconds", "gauge", perClass, "What 99 of 100 of them take."}
)

// calls adds how each class with a call policy calls its upstream.
func (s sink) calls(all []Call) {
	for i := range all {
		c := &all[i]
		for _, f := range []struct {
			d *Definition
			v float64
		}{
			{&callsBegun, float64(c.Calls)},
			{&callsOK, float64(c.Answered)},
			{&callAttempts, float64(c.Attempts)},
			{&callHedgeWon, float64(c.HedgesWon)},
			{&callThrottle, c.Throttled},
			{&callHold, c.Hold.Seconds()},
			{&callHedge, c.HedgeAfter.Seconds()},
			{&callSlow, c.SlowShare / 100},
			{&callMedian, c.Median.Seconds()},
			{&callTail, c.Tail.Seconds()},
		} {
			s.add(f.d, f.v, c.Resource, c.Class)
		}
		s.more(c, "retry", c.Retries, c.RetriesOverBudget, c.BudgetLeft, c.RetriesFree)
		s.more(c, "hedge", c.Hedges, c.HedgesOverBudget, c.HedgeBudgetLeft, c.HedgesFree)
		s.add(&callHeld, float64(c.HeldByBreaker), c.Resource, c.Class, "breaker")
		s.add(&callHeld, float64(c.HeldByThrottle), c.Resource, c.Class, "throttle")
		s.add(&callHeld, float64(c.HedgesHeld), c.Resource, c.Class, "hedge")
		for b := call.Closed; b <= call.Recovering; b++ {
			s.add(&callBreaker, truth(c.Breaker == b), c.Resource, c.Class, b.String())
		}
	}
}

func (s sink) more(c *Call, kind string, sent, over int64, left int, free bool) {
	s.add(&callMore, float64(sent), c.Resource, c.Class, kind)
	s.add(&callOver, float64(over), c.Resource, c.Class, kind)
	if !free {
		s.add(&callBudget, float64(left), c.Resource, c.Class, kind)
	}
}
