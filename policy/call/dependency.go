package call

import (
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/estimate"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Dependency is what all calls to one dependency share: budgets, breaker, throttle,
// and what was measured. About 6 kB, whatever the number of calls.
type Dependency struct {
	policy Policy
	chance chance.Source // of calls that bring no dice

	breaker  breaker
	throttle throttle
	retries  budget
	hedges   budget
	pace     pace
	slow     slow
	latency  estimate.Quantiles // of answered attempts; see quantiles
	tells    bool               // the driver reports Sent

	count Count
}

// New returns the state for calls under the policy, or the policy's faults.
func New(p Policy) (*Dependency, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	p = p.WithDefaults()
	return &Dependency{
		policy: p, chance: chance.New(p.Seed),
		breaker: newBreaker(p.Breaker), throttle: newThrottle(p.Throttle),
		retries: newBudget(p.Budget), hedges: newBudget(p.Hedge.Budget),
		latency: quantiles(p.Hedge),
	}, nil
}

// Reconfigure puts the policy in the place of the one before, or changes nothing and
// returns the policy's faults. What was measured and spent stays, as do breaker and
// calls in flight: these meet the new policy at their next fact, with the limit they
// were sent under. A hedge that is to wait for another percentile waits for that of all
// that was measured. The seed counts at the start only.
func (d *Dependency) Reconfigure(now unit.Instant, p Policy) error {
	if err := p.Validate(); err != nil {
		return err
	}
	p = p.WithDefaults()
	d.breaker.set(p.Breaker)
	d.throttle.set(p.Throttle)
	d.retries.set(p.Budget)
	d.hedges.set(p.Hedge.Budget)
	d.latency.Follow(atHedge, p.Hedge.followed())
	d.policy = p
	return nil
}

// Policy returns the policy in force, its defaults filled in.
func (d *Dependency) Policy() Policy { return d.policy }
