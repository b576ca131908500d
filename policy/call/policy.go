package call

import (
	"errors"
	"fmt"
	"time"
)

// Policy is how a dependency is called. The zero value makes one attempt that may
// take as long as the call may.
type Policy struct {
	// Timeout is the limit of each try; 0: what is left of the deadline.
	Timeout time.Duration
	// Reserve is what is kept back of the deadline for answering.
	Reserve time.Duration
	// Retries is how many tries may follow the first, 0 .. RetriesMax.
	Retries int
	Backoff Backoff
	// Budget bounds retries over all calls.
	Budget   Budget
	Hedge    Hedge
	Breaker  Breaker
	Throttle Throttle
	// Seed is of the chance that spreads pauses and throttles.
	Seed uint64
}

// RetriesMax bounds Policy.Retries.
const RetriesMax = 100

// WithDefaults returns the policy with its zero fields filled in: a budget of 10 %
// with a floor of 3 for retries and another for hedges, and what else is said at
// the fields.
func (p Policy) WithDefaults() Policy {
	p.Budget = p.Budget.withDefaults()
	p.Hedge = p.Hedge.withDefaults()
	p.Breaker = p.Breaker.withDefaults()
	p.Throttle = p.Throttle.withDefaults()
	return p
}

func (h Hedge) withDefaults() Hedge {
	h.Budget = h.Budget.withDefaults()
	if h.SlowShare == 0 {
		let := 0.0
		if h.Percentile > 0 {
			let = float64(100 - h.Percentile)
		}
		if !h.Budget.Off {
			let = max(let, h.Budget.Percent)
		}
		h.SlowShare = min(max(2*let, SlowShareMin), SlowShareMax)
	}
	return h
}

// Validate returns what is wrong with the policy, field by field, or nil. What is
// merely large is not wrong.
func (p Policy) Validate() error {
	return errors.Join(
		notNegative("Timeout", p.Timeout, "the limit of each try; 0 leaves it to the deadline"),
		notNegative("Reserve", p.Reserve, "what is kept back of the deadline"),
		within("Retries", p.Retries, 0, RetriesMax),
		named("Backoff", p.Backoff.validate()),
		named("Budget", p.Budget.validate()),
		notNegative("Hedge.After", p.Hedge.After, "how long the first may take; 0 is no hedge"),
		within("Hedge.Percentile", p.Hedge.Percentile, 0, 99),
		within("Hedge.SlowShare", p.Hedge.SlowShare, 0, 100),
		named("Hedge.Budget", p.Hedge.Budget.validate()),
		named("Breaker", p.Breaker.validate()),
		named("Throttle", p.Throttle.validate()),
	)
}

func notNegative(field string, d time.Duration, is string) error {
	if d < 0 {
		return fmt.Errorf("%s is %v and must not be negative: it is %s", field, d, is)
	}
	return nil
}

func within[N int | float64](field string, n, from, to N) error {
	if n >= from && n <= to { // which no NaN is
		return nil
	}
	return fmt.Errorf("%s is %v and must lie in %v .. %v", field, n, from, to)
}

func named(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", field, err)
}

// Backoff is how long a call pauses before a retry. The pause never reaches past
// the deadline: a retry that could not be sent before it is not scheduled.
type Backoff struct {
	// Base is the pause before the first retry, which doubles with each; 0: none.
	Base time.Duration
	// Max is the longest; 0: no other than the deadline.
	Max time.Duration
	// Jitter is how it is spread.
	Jitter Jitter
}

// Jitter is how a pause is spread, so that calls that failed together do not come
// back together.
type Jitter uint8

// The ways, after "Exponential Backoff and Jitter" (Brooker, AWS, 2015).
const (
	// Full is uniform from 0 to the pause.
	Full Jitter = iota
	// Equal is half the pause and uniform up to all of it.
	Equal
	// Decorrelated is uniform from Base to three times the pause before, at most Max.
	Decorrelated
	// NoJitter is the pause itself.
	NoJitter
)

// Budget bounds what is sent beside first attempts: at most Percent of the first
// attempts of the last ten seconds, and Floor more at once, each of which takes half a
// minute to come back. With Tokens it is a token
// bucket instead (Brooker 2022): an answered call puts in Percent of a token, a retry
// takes one, and Tokens is the most it holds and what it starts with.
type Budget struct {
	// Off is no bound at all.
	Off     bool
	Percent float64
	Floor   int
	Tokens  int
}

// Hedge is a second attempt beside a first that is slow. It is off while Hedge.After
// and Hedge.Percentile are 0, while the breaker is not closed, while the dependency
// has asked to be left alone, and while it is slow as a whole.
type Hedge struct {
	// After is how long the first may take.
	After time.Duration
	// Percentile of what answered attempts took stands for After once it is
	// measured, that is once ten lie above it, 1 .. 99; until then, and if it is 0,
	// After holds.
	Percentile int
	// Budget bounds hedges over all calls, apart from retries.
	Budget Budget
	// SlowShare is the percentage of recent firsts outliving the delay above which
	// the dependency is slow as a whole, 0 .. 100: a second ask would then only add
	// to what makes it slow. 0: twice what the delay is meant to let through or the
	// budget pays for, at least 20, at most 80. 100: never.
	SlowShare float64
}

// Bounds of the default of Hedge.SlowShare, in percent.
const (
	SlowShareMin = 20
	SlowShareMax = 80
)

// Breaker is when calls stop for a while. A zero share is no rule; with no rule at
// all there is no breaker.
type Breaker struct {
	// Failures and Slow are shares of the calls of the window, in percent, at which
	// it opens. Slow counts attempts that took longer than SlowAfter.
	Failures, Slow float64
	SlowAfter      time.Duration
	// Consecutive failures open it too.
	Consecutive int
	// Window is how far back it looks; MinCalls in it are needed to judge.
	Window   time.Duration
	MinCalls int
	// OpenFor is how long it stays open the first time, OpenMax the longest when
	// its probes keep failing.
	OpenFor, OpenMax time.Duration
	// Probes may run at once while it is half open; each is given up after
	// ProbeTimeout, so that one that never ends wedges nothing.
	Probes       int
	ProbeTimeout time.Duration
}

// Throttle refuses a share of calls here that the dependency would refuse there
// (Google SRE book, ch. 21): K calls are made for each that is accepted; 0: off.
type Throttle struct {
	K      float64
	Window time.Duration
}
