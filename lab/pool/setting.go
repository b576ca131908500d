package pool

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/workload"
)

// Options are the flags.
type Options struct {
	Rate    float64 // offered, tasks/s
	Slots   int
	Budget  time.Duration // p99, wait and service together
	Service workload.Service
	Seconds float64
	Seed    uint64
	Arms    []string // empty: all
}

// Defaults are the experiment's own: a pool that can do 400 tasks/s is offered
// twice that.
func Defaults() Options {
	service, err := workload.ConstantService(100 * time.Millisecond)
	if err != nil {
		panic("BUG: lab pool: " + err.Error())
	}
	return Options{Rate: 800, Slots: 40, Budget: 300 * time.Millisecond, Service: service, Seconds: 30, Seed: 1}
}

// Validate returns what is wrong with the options, one line with the fix in
// it, or nil.
func (o *Options) Validate() error {
	mean := o.Service.Mean()
	switch {
	case !(o.Rate > 0 && o.Rate <= 1e6):
		return fmt.Errorf("a rate of %v/s: it is above 0 and at most 1,000,000", o.Rate)
	case o.Slots < 4 || o.Slots > 100_000:
		return fmt.Errorf("%d slots: it is from 4, so that they can be divided, to 100,000", o.Slots)
	case mean <= 0:
		return fmt.Errorf("service time %v: write 100ms, exp:100ms or lognormal:mean=100ms,p99=400ms", o.Service)
	case o.Budget <= mean || o.Budget > time.Hour:
		return fmt.Errorf("a budget of %v for work of %v: it must be more, and at most 1h", o.Budget, mean)
	case !(o.Seconds >= 1 && o.Seconds <= 3600):
		return fmt.Errorf("%v seconds: it is from 1 to 3600", o.Seconds)
	case o.Rate*o.Seconds > 20e6:
		return fmt.Errorf("%.0f tasks a round: at most 20,000,000; lower --rate or --seconds", o.Rate*o.Seconds)
	}
	return nil
}

// capacity is what the pool can do, tasks/s.
func (o *Options) capacity() float64 { return float64(o.Slots) / o.Service.Mean().Seconds() }

// steady reports whether all work takes the same time.
func (o *Options) steady() bool {
	_, err := time.ParseDuration(o.Service.String())
	return err == nil
}

// derived is allowed wait x throughput.
func (o *Options) derived() int {
	return int(float64((o.Budget - o.Service.Mean()).Seconds() * o.capacity()))
}

// Setting is one arm. Its JSON stands in the plan of the raw records.
type Setting struct {
	Name string `json:"-"`
	Does string `json:"does"`

	Seconds  float64 `json:"seconds"`
	BudgetMs float64 `json:"budget_ms"`
	Slots    int     `json:"slots"` // of the pool as a whole
	Service  string  `json:"service"`
	// Naive leaves the boundary out: workers take from a line without end.
	Naive   bool     `json:"naive"`
	Outage  bool     `json:"outage"` // for the whole run; work fails after 5 ms
	Classes []Class  `json:"classes"`
	Streams []Stream `json:"streams"`
	Stages  []Stage  `json:"stages"`
	// Layers are how often each layer of callers tries, outermost first.
	Layers []int `json:"layers"`
	// Edge limits each client, before the pool; nil: nobody does.
	Edge *Edge `json:"edge,omitempty"`
	// Balancer spreads the first stream over the classes; nil: it goes where it
	// says.
	Balancer *Balancer `json:"balancer,omitempty"`

	// ByHand switches the first class to its cheaper answer; nil: nobody does.
	ByHand *ByHand `json:"by_hand,omitempty"`

	law workload.Service
}

// Class is a class of the boundary.
type Class struct {
	Name       string  `json:"name"`
	Slots      int     `json:"slots"`
	Borrow     int     `json:"borrow"`
	Bound      int     `json:"bound"` // 0: derived from the budget
	ServiceMs  float64 `json:"service_ms"`
	WhenFull   string  `json:"when_full"`
	BlockMs    float64 `json:"block_ms"`
	Order      string  `json:"order"`
	DeadlineMs float64 `json:"deadline_ms"`
	Feasible   bool    `json:"feasible"` // what cannot be done in time is refused at once
	// Cheaper answers from a fixed list whoever is not answered in full.
	Cheaper bool `json:"cheaper,omitempty"`
}

// Stream is who offers.
type Stream struct {
	Class  string  `json:"class"`
	Tenant string  `json:"tenant"`
	PerS   float64 `json:"per_s"`
	// Retries of a refused, failed or late attempt, and the pause before each.
	Retries   int     `json:"retries"`
	BackoffMs float64 `json:"backoff_ms"` // doubled each time, up to 16 times as much
	Jitter    bool    `json:"jitter"`     // full: from none to all of the pause
	Obedient  bool    `json:"obedient"`   // wait as long as Retry-After says
	WithinMs  float64 `json:"within_ms"`  // after its first attempt a caller starts no other; 0: always does
	Budget    float64 `json:"budget"`     // retries as a share of first attempts; 0: no limit
	// Library has them call through Spillway's client library: pushback obeyed, a
	// budget of a tenth and a floor for retries. BreakerPercent is the share of bad
	// answers that opens its breaker; 0: it has none.
	Library        bool    `json:"library"`
	BreakerPercent float64 `json:"breaker_percent"`
}

// Stage is one pool of several in a row.
type Stage struct {
	Name      string  `json:"name"`
	Slots     int     `json:"slots"`
	ServiceMs float64 `json:"service_ms"`
	Bound     int     `json:"bound"`
	BlockMs   float64 `json:"block_ms"`
}

func ms(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

func inMs(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
