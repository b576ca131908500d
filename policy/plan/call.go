package plan

import (
	"math"
	"time"
)

// Call is how a class calls its upstream.
type Call struct {
	Timeout time.Duration // of one try; 0: what is left of the deadline
	Reserve time.Duration // kept back of the deadline for answering
	// PassDeadline: what is left travels to the upstream.
	PassDeadline bool
	Retries      int // tries after the first
	// RetryBudget is the share of calls that may be retries (0.1 is 10 %);
	// RetryBudgetOff lets every retry through.
	RetryBudget    float64
	RetryBudgetOff bool
	Backoff        Backoff
	Hedge          Hedge
	Breaker        Breaker
}

// Backoff is the longest pauses before retries: Base, doubling up to Max; three times
// the one before where Decorrelated. A Max of 0 does not cut.
type Backoff struct {
	Base, Max    time.Duration
	Decorrelated bool
}

// Hedge is a second attempt beside a slow first. The zero Hedge is none.
type Hedge struct {
	After      time.Duration
	Percentile int // 1 to 99: stands for After
	Budget     float64
	BudgetOff  bool
}

func (h Hedge) on() bool { return h.After > 0 || h.Percentile > 0 }

// Breaker is what of a breaker can contradict the rest. A Window of 0 is no breaker.
type Breaker struct {
	Window       time.Duration
	SlowAfter    time.Duration // 0: it does not look at times
	MinCalls     int
	ProbeTimeout time.Duration
	// Shares: it judges by shares of the window; else by failures in a row alone.
	Shares bool
}

// SustainedCalls is what a request becomes when everything is slow: its tries, each of
// them hedged as far as the hedge budget lets it.
func SustainedCalls(tries, hedgeBudget float64, hedgeBudgetOff bool) float64 {
	tries = max(1, tries)
	if hedgeBudgetOff || math.IsInf(hedgeBudget, 1) {
		return float64(2 * tries)
	}
	return tries + min(tries, atLeastZero(hedgeBudget))
}

// LongestCall is how long a request can be called for in all: tries that each take
// timeout, and the longest pause before each but the first. It saturates.
func LongestCall(tries int, timeout time.Duration, b Backoff) time.Duration {
	total := float64(float64(max(1, tries)) * float64(max(0, timeout)))
	pause := float64(max(0, b.Base))
	grow := 2.0
	if b.Decorrelated { // the first is drawn up to three times the base too
		grow = 3
		pause = float64(pause * grow)
	}
	for i := 1; i < tries && pause > 0 && total < math.MaxInt64; i++ {
		if b.Max > 0 && pause >= float64(b.Max) { // and so are all that follow
			total += float64(float64(tries-i) * float64(b.Max))
			break
		}
		total += pause
		pause = float64(pause * grow)
	}
	return duration(total)
}

// tries is how often the class tries, hedges apart.
func (c *class) tries() int {
	if c.Call.Retries == math.MaxInt {
		return math.MaxInt
	}
	return 1 + c.Call.Retries
}

// layers is the attempts of each layer, the outermost first; ours is the last but for
// the hedge, which can double each try.
func (c *class) layers() []int {
	all := append(append([]int{}, c.Expect.CallersAttempts...), c.tries())
	if c.Call.Hedge.on() {
		all = append(all, 2)
	}
	return all
}

// sustainedTries is the tries of a request on average when all fail.
func (c *class) sustainedTries() float64 {
	return SustainedAttempts(c.tries(), c.Call.RetryBudget, c.Call.RetryBudgetOff)
}

// sustainedAttempts adds the hedges.
func (c *class) sustainedAttempts() float64 {
	h := c.Call.Hedge
	if !h.on() {
		return c.sustainedTries()
	}
	return SustainedCalls(c.sustainedTries(), h.Budget, h.BudgetOff)
}

// limit is the longest that one try may take; 0: nothing says.
func (c *class) limit() time.Duration {
	t := c.Call.Timeout
	if left := c.Deadline - c.Call.Reserve; c.Deadline > 0 && left > 0 && (t <= 0 || left < t) {
		return left
	}
	return max(0, t)
}
