package sim

import (
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/workload"
)

// Upstream is the model of what serves: a number of servers and one line, first
// come first served, for what it is sent beyond them; or several copies of that.
type Upstream struct {
	// Slots is how many pieces of work it serves at once; 0 is without limit.
	Slots int
	// Capacity changes Slots at instants, in order of time.
	Capacity []Capacity
	// Strain makes what is too much cost throughput: work that is begun while n
	// stand in the line takes 1 + Strain x n / Slots times as long. 0: waiting there
	// costs nobody but who waits.
	Strain float64
	// Copies is how many copies it has; 0 counts as 1. Each has the part of Slots that
	// falls to its weight, rounded up, and a line of its own. What goes to which is
	// decided as the gateway decides it, by Spread.
	Copies int
	// Weights are those of the copies, from the first on, 0 to spread.WeightMax; one
	// that is not there is 1. A copy of weight 0 gets nothing, but not all may be.
	Weights []int
	Spread  spread.Config
	// CopyConditions say of single copies, from the first on, when they are slow or
	// out, in the place of Conditions.
	CopyConditions []workload.Conditions
	// Service is how long one takes when nothing is wrong, drawn for each
	// attempt. Its zero value takes what the arrival says.
	Service workload.Service
	// Conditions say when it is slow or out.
	Conditions workload.Conditions
	// FailIn, if positive, is how soon work fails during an outage; what is
	// being served when one begins fails at once. Otherwise all work stands
	// still until the outage ends.
	FailIn time.Duration
	// NoticesCancel lets it stop work, waiting or being served, whose caller
	// is gone or was told that it took too long.
	NoticesCancel bool
	// Quotas are those of a provider that counts for itself: what it is sent beyond
	// them fails at once.
	Quotas []quota.Quota
	// KeepsDeadline lets it stop work at a deadline that was passed on to it.
	KeepsDeadline bool
}

// upstream is the state of an Upstream.
type upstream struct {
	Upstream
	copies   []oneCopy
	provider store          // where Quotas are counted
	spread   *spread.Spread // nil for a single copy
	inLine   int            // of all copies, without those who have left

	swelled int // how many of Capacity have been applied
}

// ends returns when work that is begun now ends at a copy, and whether it fails.
func (u *upstream) ends(now unit.Instant, service time.Duration, copy spread.Copy) (at unit.Instant, failed bool) {
	start := time.Duration(now)
	conditions := u.Conditions
	if int(copy) < len(u.CopyConditions) {
		conditions = u.CopyConditions[copy]
	}
	condition := conditions.At(start)
	if condition.Factor == 1 && (condition.Until == 0 || service <= condition.Until-start) {
		return now.Add(service), false
	}
	finish := conditions.Finish(start, service)
	if u.FailIn <= 0 {
		return unit.Instant(finish), false
	}
	for at := start; ; at, condition = condition.Until, conditions.At(condition.Until) {
		if condition.Out() {
			if at == start {
				return now.Add(u.FailIn), true
			}
			return unit.Instant(at), true
		}
		if condition.Until == 0 || finish <= condition.Until {
			return unit.Instant(finish), false
		}
	}
}
