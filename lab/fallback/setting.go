package fallback

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/lab/fallback/ap"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/sim/store"
)

// Options are the flags.
type Options struct {
	Rounds  int
	Seconds float64
	Seed    uint64
	Arms    []string // empty: all
	Own     *Setting // an arm of one's own, in the place of all
	// Tipping plays the arms at 450/s for TippingRounds rounds, to count how many
	// tip.
	Tipping bool
	// AP, if not nil, prices the stand-ins of every arm.
	AP *ap.Options
	// Live, if not nil, has the rounds played on this machine, see package live.
	Live *LiveOptions
}

// TippingRounds is how many rounds it takes to tell a share of a quarter from one
// of a tenth.
const TippingRounds = 100

// Defaults are the experiment's own.
func Defaults() Options { return Options{Rounds: 5, Seconds: 30, Seed: 1} }

// Validate returns what is wrong with the options, one line with the fix in it,
// or nil.
func (o *Options) Validate() error {
	switch {
	case o.Rounds < 1 || o.Rounds > 1000:
		return fmt.Errorf("%d rounds: it is from 1 to 1000", o.Rounds)
	case !(o.Seconds >= 1 && o.Seconds <= 3600):
		return fmt.Errorf("%v seconds: it is from 1 to 3600", o.Seconds)
	case o.Own != nil && len(o.Arms) > 0:
		return fmt.Errorf("--arms chooses from the table; leave it out for an arm of your own")
	case o.Live != nil && o.Tipping:
		return fmt.Errorf("--tipping counts over %d rounds of virtual time; leave out --live", TippingRounds)
	case o.AP != nil && o.AP.Validate() != nil:
		return o.AP.Validate()
	case o.Own != nil:
		return o.Own.validate(o)
	}
	return nil
}

// Setting is one arm. Its JSON stands in the plan of the raw records.
type Setting struct {
	Name string `json:"-"`
	Does string `json:"does"`

	Rate    float64 `json:"rate"`
	Waits   string  `json:"waits"` // F, L or H
	Slots   int     `json:"slots"` // of each copy of the store
	Copies  int     `json:"copies"`
	Seconds float64 `json:"seconds"`
	Senders int     `json:"senders"`
	RestMs  float64 `json:"rest_ms"` // scoring and network

	LimitMs float64 `json:"limit_ms"` // of each try; 0: none
	Retries int     `json:"retries"`
	PauseMs float64 `json:"pause_ms"` // before the first retry, doubled before the second
	Jitter  bool    `json:"jitter"`   // uniform from 0 to the pause
	HedgeMs float64 `json:"hedge_ms"` // 0: no hedge
	// HedgeAlways hedges also while the store is slow as a whole.
	HedgeAlways bool `json:"hedge_always"`
	// DeadlineMs counts from the scheduled instant, ReserveMs of it are kept back.
	DeadlineMs float64 `json:"deadline_ms"`
	ReserveMs  float64 `json:"reserve_ms"`
	Travels    bool    `json:"travels"` // the limit goes along, and the store stops at it
	// Budget of retries and hedges: off, tokens, or a share such as 10%.
	Budget  string `json:"budget"`
	Breaker bool   `json:"breaker"`
	// Otherwise is what is answered when the store did not: error or stand_in.
	Otherwise string `json:"otherwise"`

	Guarded bool `json:"guarded"` // spillway in front of the store
	Deaf    bool `json:"deaf"`    // which cannot stop what holds a slot
	// BusyEveryS and so on: times in which all lookups are slow.
	BusyEveryS   float64 `json:"busy_every_s"`
	BusyMs       float64 `json:"busy_ms"`
	BusyFactor   int     `json:"busy_factor"`
	BusyTogether bool    `json:"busy_together"`
	// SlowCustomer is the share of the requests of a customer whose every lookup
	// freezes.
	SlowCustomer float64 `json:"slow_customer"`
}

// The budgets that have a name.
const (
	BudgetOff    = "off"
	BudgetTokens = "tokens"
	budgetFloor  = 3 // retries at once that a share allows whatever was called before
	tokensMost   = 20
)

func (s *Setting) validate(o *Options) error {
	if _, err := store.ParseLaw(s.Waits); err != nil {
		return err
	}
	if s.Rate*o.Seconds > 20e6 {
		return fmt.Errorf("%.0f requests a round: at most 20,000,000; lower --rate or --seconds", s.Rate*o.Seconds)
	}
	for name, v := range map[string]float64{"--timeout": s.LimitMs, "--pause": s.PauseMs, "--hedge": s.HedgeMs} { // order does not matter: one is reported
		if v < 0 || v > 60_000 {
			return fmt.Errorf("%s of %v ms: it is from 0 to 1m", name, v)
		}
	}
	if s.Travels && s.LimitMs == 0 {
		return fmt.Errorf("--pass-deadline without a limit: add --timeout 25ms")
	}
	if s.Retries > 0 && s.LimitMs == 0 {
		return fmt.Errorf("--retries without a limit: nothing would ever be tried again; add --timeout 25ms")
	}
	if s.Retries < 0 || s.Retries > call.RetriesMax {
		return fmt.Errorf("--retries %d: it is from 0 to %d", s.Retries, call.RetriesMax)
	}
	if _, err := s.budget(); err != nil {
		return err
	}
	sc, err := s.scenario(o.Seed, 0)
	if err != nil {
		return err
	}
	return sc.Validate()
}

// budget reads the budget's text.
func (s *Setting) budget() (call.Budget, error) {
	switch s.Budget {
	case "", BudgetOff:
		return call.Budget{Off: true}, nil
	case BudgetTokens:
		return call.Budget{Percent: 10, Tokens: tokensMost}, nil
	}
	var percent float64
	if n, err := fmt.Sscanf(s.Budget, "%g%%", &percent); n != 1 || err != nil || !(percent > 0 && percent <= 1000) {
		return call.Budget{}, fmt.Errorf("budget %q: write 10%%, tokens or off", s.Budget)
	}
	return call.Budget{Percent: percent, Floor: budgetFloor}, nil
}

// policy is how the service calls the store.
func (s *Setting) policy() (call.Policy, error) {
	budget, err := s.budget()
	if err != nil {
		return call.Policy{}, err
	}
	p := call.Policy{
		Timeout: ms(s.LimitMs), Reserve: ms(s.ReserveMs), Retries: s.Retries, Budget: budget,
		Backoff: call.Backoff{Base: ms(s.PauseMs), Jitter: call.NoJitter},
	}
	if s.Jitter {
		p.Backoff.Jitter = call.Full
	}
	if s.HedgeMs > 0 {
		p.Hedge = call.Hedge{After: ms(s.HedgeMs), Budget: budget}
		if s.HedgeAlways {
			p.Hedge.SlowShare = 100
		}
	}
	if s.Breaker {
		p.Breaker = call.Breaker{
			Failures: 50, Window: 10 * time.Second, MinCalls: 20, OpenFor: time.Second, OpenMax: 30 * time.Second,
			Probes: 3, ProbeTimeout: time.Second,
		}
	}
	return p, nil
}

// scenario is the arm's round.
func (s *Setting) scenario(seed uint64, round int) (store.Scenario, error) {
	law, err := store.ParseLaw(s.Waits)
	if err != nil {
		return store.Scenario{}, err
	}
	policy, err := s.policy()
	if err != nil {
		return store.Scenario{}, err
	}
	return store.Scenario{
		Draws: store.NewDraws(seed, round, law, int(s.SlowCustomer*1e6)), Rate: s.Rate, For: ms(1000 * s.Seconds),
		Policy: policy, Deadline: ms(s.DeadlineMs), Travels: s.Travels, Senders: s.Senders, Rest: ms(s.RestMs),
		Store: store.Store{
			Slots: s.Slots, Copies: s.Copies, Guarded: s.Guarded, Deaf: s.Deaf, Together: s.BusyTogether,
			Busy: store.Busy{Every: ms(1000 * s.BusyEveryS), For: ms(s.BusyMs), Factor: int64(s.BusyFactor)},
		},
	}, nil
}

func ms(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
