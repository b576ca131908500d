package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Count is what has happened since New. Every call in it is Answered, given up, or
// in flight.
type Count struct {
	// Calls that were begun, and of them Answered with OK.
	Calls, Answered int64
	// Attempts that were to be sent; Retries and Hedges are those of them that left,
	// HedgesWon the hedges that answered first.
	Attempts, Retries, Hedges, HedgesWon int64
	// RetriesOverBudget and HedgesOverBudget were forbidden by their budget.
	RetriesOverBudget, HedgesOverBudget int64
	// HedgesHeld were due and let be, because the dependency was slow as a whole,
	// unwell, or had asked to be left alone, or the call may not run twice.
	HedgesHeld int64
	// HeldByBreaker and HeldByThrottle are attempts that were not sent.
	HeldByBreaker, HeldByThrottle int64
}

// State is what a page or a metric shows of a dependency.
type State struct {
	Count
	// BudgetLeft and HedgeBudgetLeft are how many could be sent now.
	BudgetLeft, HedgeBudgetLeft int
	// Reserved is how many retries and hedges are scheduled that have not left, and whose
	// calls have not ended: 0 whenever no call is under way.
	Reserved int
	Breaker  BreakerState
	// BreakerUntil is when an open breaker lets a probe through; 0 unless open.
	BreakerUntil unit.Instant
	// Throttled is the share of attempts that the throttle would hold back now, 0 .. 1.
	Throttled float64
	// Median and Tail are the 50th and 99th percentile of what attempts took that
	// were answered, or cut off by their limit or a hedge that won; Samples is how
	// many they rest on.
	Median, Tail time.Duration
	Samples      int
	// HedgeAfter is when a hedge is due now, 0: never. SlowShare is the percentage of
	// recent firsts that were still in flight then.
	HedgeAfter time.Duration
	SlowShare  float64
	// HoldUntil is until when the dependency has asked to be left alone, 0 if it has
	// not.
	HoldUntil unit.Instant
	// PerCall is attempts for each call, 0 before the first.
	PerCall float64
}

// State returns a snapshot. It takes about a microsecond and changes no decision.
func (d *Dependency) State(now unit.Instant) State {
	s := State{
		Count:      d.count,
		BudgetLeft: d.retries.left(now), HedgeBudgetLeft: d.hedges.left(now),
		Reserved:  int(d.retries.reserved + d.hedges.reserved),
		Throttled: d.throttle.share(now),
		Median:    d.latency.Value(atMedian), Tail: d.latency.Value(atTail),
		Samples:   d.latency.Samples(),
		SlowShare: d.slow.percent(),
	}
	s.Breaker, s.BreakerUntil = d.breaker.state(now)
	if d.hedging() {
		s.HedgeAfter = d.hedgeAfter()
	}
	if d.pace.hold > now {
		s.HoldUntil = d.pace.hold
	}
	if d.count.Calls > 0 {
		s.PerCall = float64(d.count.Attempts) / float64(d.count.Calls)
	}
	return s
}
