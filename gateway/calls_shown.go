package gateway

import (
	"fmt"
	"io"
	"time"

	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/unit"
)

// callState is how a class calls its upstream, as /debug/pools shows it: {} where it
// makes one attempt and no more decisions.
type callState struct{ *callFigures }

type callFigures struct {
	Calls             int64   `json:"calls"`
	Answered          int64   `json:"answered"`
	Attempts          int64   `json:"attempts"`
	PerCall           float64 `json:"attempts_per_call"`
	Retries           int64   `json:"retries"`
	RetriesOverBudget int64   `json:"retries_over_budget"`
	Hedges            int64   `json:"hedges"`
	HedgesWon         int64   `json:"hedges_won"`
	HedgesOverBudget  int64   `json:"hedges_over_budget"`
	HedgesHeld        int64   `json:"hedges_held"`
	HeldByBreaker     int64   `json:"held_by_breaker"`
	HeldByThrottle    int64   `json:"held_by_throttle"`
	RetryBudgetLeft   *int    `json:"retry_budget_left"` // null: there is no budget
	HedgeBudgetLeft   *int    `json:"hedge_budget_left"`
	Breaker           string  `json:"breaker"`
	BreakerOpenLeft   float64 `json:"breaker_open_left_ms"`
	Throttled         float64 `json:"throttled"` // share, 0 .. 1
	HoldLeft          float64 `json:"hold_left_ms"`
	HedgeAfter        float64 `json:"hedge_after_ms"` // 0: never
	Slow              float64 `json:"slow"`           // share, 0 .. 1
	Median            float64 `json:"median_ms"`
	P99               float64 `json:"p99_ms"`
	Samples           int     `json:"samples"`
}

// callMetrics is what a scrape sees of the calls of all classes in force.
func (g *Gateway) callMetrics() (all []observe.Call) {
	for _, c := range g.current.Load().all() {
		if c.calls != nil {
			all = append(all, c.calls.shown(c))
		}
	}
	return all
}

func (c *calls) shown(of *class) observe.Call {
	var s call.State
	var hold time.Duration
	c.caller.With(func(now unit.Instant, d *call.Dependency) {
		s = d.State(now)
		if s.HoldUntil > now {
			hold = s.HoldUntil.Sub(now)
		}
		if s.BreakerUntil = max(s.BreakerUntil-now, 0); s.Breaker != call.Open {
			s.BreakerUntil = 0
		}
	})
	return observe.Call{Resource: of.upstream.name, Class: of.name, State: s, Hold: hold,
		RetriesFree: c.policy.Budget.Off, HedgesFree: c.policy.Hedge.Budget.Off}
}

// callsOf returns what /debug/pools shows of the class of that name.
func (g *Gateway) callsOf(resource, class string) callState {
	for _, c := range g.current.Load().all() {
		if c.name == class && c.upstream.name == resource && c.calls != nil {
			return callStateOf(c.calls.shown(c))
		}
	}
	return callState{}
}

func callStateOf(c observe.Call) callState {
	f := &callFigures{
		Calls: c.Calls, Answered: c.Answered, Attempts: c.Attempts, PerCall: c.PerCall,
		Retries: c.Retries, RetriesOverBudget: c.RetriesOverBudget,
		Hedges: c.Hedges, HedgesWon: c.HedgesWon, HedgesOverBudget: c.HedgesOverBudget, HedgesHeld: c.HedgesHeld,
		HeldByBreaker: c.HeldByBreaker, HeldByThrottle: c.HeldByThrottle,
		Breaker: c.Breaker.String(), BreakerOpenLeft: millis(time.Duration(c.BreakerUntil)),
		Throttled: c.Throttled, HoldLeft: millis(c.Hold), HedgeAfter: millis(c.HedgeAfter), Slow: c.SlowShare / 100,
		Median: millis(c.Median), P99: millis(c.Tail), Samples: c.Samples,
	}
	if !c.RetriesFree {
		f.RetryBudgetLeft = &c.BudgetLeft
	}
	if !c.HedgesFree {
		f.HedgeBudgetLeft = &c.HedgeBudgetLeft
	}
	return callState{f}
}

// write renders the calls as lines of text.
func (c callState) write(w io.Writer) {
	if c.callFigures == nil {
		return
	}
	fmt.Fprintf(w, "  calls     %d in %d attempts, %d answered", c.Calls, c.Attempts, c.Answered)
	if c.Samples > 0 {
		fmt.Fprintf(w, ": half of the attempts within %s ms, 99 of 100 within %s ms", number(c.Median), number(c.P99))
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "            retries %d, %d over budget, %s; held %d by breaker, %d by throttle\n",
		c.Retries, c.RetriesOverBudget, budgetLeft(c.RetryBudgetLeft), c.HeldByBreaker, c.HeldByThrottle)
	if c.HedgeAfter > 0 {
		fmt.Fprintf(w, "            hedges %d after %s ms, %d won, %d over budget, %d let be, %s\n",
			c.Hedges, number(c.HedgeAfter), c.HedgesWon, c.HedgesOverBudget, c.HedgesHeld, budgetLeft(c.HedgeBudgetLeft))
	}
	fmt.Fprintf(w, "            breaker %s", c.Breaker)
	if c.BreakerOpenLeft > 0 {
		fmt.Fprintf(w, ", %s ms left", number(c.BreakerOpenLeft))
	}
	if c.Throttled > 0 {
		fmt.Fprintf(w, "; throttle holds %.0f %% back", 100*c.Throttled)
	}
	if c.HoldLeft > 0 {
		fmt.Fprintf(w, "; the upstream asked to be left alone, %s ms left", number(c.HoldLeft))
	}
	fmt.Fprintln(w)
}

func budgetLeft(budget *int) string {
	if budget == nil {
		return "without a budget"
	}
	return fmt.Sprintf("%d left", *budget)
}
