package fair

import "github.com/spillway-dev/spillway/policy/unit"

// A Flow is one tenant's place in a schedule. It is embedded in the tenant's
// record and belongs to one Scheduler. Weight and Rank are read here and
// changed through [Scheduler.Set].
type Flow struct {
	// Weight is the tenant's share relative to the others', 1 .. WeightMax.
	Weight int64
	// Rank orders tenants under priority: 0 first.
	Rank int
	// Owner is whoever the flow belongs to; set once, never looked at here.
	Owner any

	credit unit.Cost // what is left to spend in the turn: requests or cost

	// The place in a Ring.
	next, prev *Flow

	// The place in a heap: of Ranks by rank, of Deficit by the round of the
	// next turn.
	key   int64
	seq   uint64
	index int    // plus one
	epoch uint64 // the Deficit's epoch in which key and credit were true
}

// WeightMax bounds a weight, so that sums of weights stay far from overflow.
const WeightMax = 1 << 20

// Forget clears what a schedule that is gone knew of the flow.
func (f *Flow) Forget() {
	*f = Flow{Weight: f.Weight, Rank: f.Rank, Owner: f.Owner}
}

func (f *Flow) set(weight int64, rank int) {
	f.Weight, f.Rank = min(max(weight, 1), WeightMax), rank
}

// A Scheduler orders the flows that have something waiting. It is not safe
// for concurrent use.
type Scheduler interface {
	// Join enters a flow that now has something waiting.
	Join(*Flow)
	// Leave takes out a flow that has nothing waiting any more. A flow that
	// is not in the schedule is left alone.
	Leave(*Flow)
	// Next returns the flow whose turn it is, or nil if none waits. It may
	// end a turn that is used up, but serves nothing: two calls in a row
	// return the same flow.
	Next() *Flow
	// Serve charges the flow that Next returned for one request.
	Serve(*Flow, unit.Cost)
	// Correct settles the difference between the true cost of a request and
	// what was charged for it.
	Correct(*Flow, unit.Cost)
	// Return takes back what Serve charged for a request that was not run after
	// all. The flow is in the schedule.
	Return(*Flow, unit.Cost)
	// Weight returns the sum of the weights of the flows that wait, and at
	// least 1.
	Weight() int64
	// Set changes the weight (1 .. WeightMax, or cut to it) and the rank of a
	// flow, in the schedule or not.
	Set(f *Flow, weight int64, rank int)
}

// Policy names a way to choose the next tenant.
type Policy uint8

// The policies. Fifo is the zero value: tenants are counted but not told
// apart.
const (
	Fifo Policy = iota
	Priority
	RR
	WRR
	DRR
)

var policyNames = [...]string{"fifo", "priority", "rr", "wrr", "drr"}

// String returns the policy as the configuration writes it.
func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return "unknown"
}

// ParsePolicy returns the policy with the given name.
func ParsePolicy(name string) (Policy, bool) {
	for i, n := range policyNames {
		if n == name {
			return Policy(i), true
		}
	}
	return Fifo, false
}

// New returns the scheduler for p. Under Fifo all requests wait in one queue
// and there is nothing to schedule: New returns nil.
func New(p Policy) Scheduler {
	switch p {
	case Priority:
		return &Ranks{}
	case RR:
		return &Ring{equal: true}
	case WRR:
		return &Ring{}
	case DRR:
		return &Deficit{}
	}
	return nil
}
