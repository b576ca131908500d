package fair

import "github.com/spillway-dev/spillway/policy/unit"

// A Flow is one tenant's place in a schedule. It is embedded in the tenant's
// record and belongs to one Scheduler. Weight and Rank are read at pick time,
// so a change applies from the next pick on.
type Flow struct {
	// Weight is the tenant's share relative to the others', at least 1.
	Weight int64
	// Rank orders tenants under priority: 0 first.
	Rank int
	// Owner is whoever the flow belongs to; set once, never looked at here.
	Owner any

	// The place in a Ring.
	next, prev *Flow
	deficit    unit.Cost
	epoch      uint64 // the ring's epoch in which deficit was last true

	// The place in a Ranks.
	seq   uint64
	index int // in the heap, plus one
}

// Forget clears what a schedule that is gone knew of the flow.
func (f *Flow) Forget() {
	f.next, f.prev, f.deficit, f.epoch, f.seq, f.index = nil, nil, 0, 0, 0, 0
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
	// end turns that are used up, but serves nothing: two calls in a row
	// return the same flow.
	Next() *Flow
	// Serve charges the flow that Next returned for one request.
	Serve(*Flow, unit.Cost)
	// Correct settles the difference between the true cost of a request and
	// what was charged for it.
	Correct(*Flow, unit.Cost)
	// Weight returns the sum of the weights of the flows that wait, and at
	// least 1.
	Weight() int64
	// Reweigh sets the weight of a flow, in the schedule or not.
	Reweigh(*Flow, int64)
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
func (p Policy) String() string { return policyNames[p] }

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
		return &Ring{equal: true, unitCost: true}
	case WRR:
		return &Ring{unitCost: true}
	case DRR:
		return &Ring{}
	}
	return nil
}
