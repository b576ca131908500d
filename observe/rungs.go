package observe

import (
	"sync"
	"sync/atomic"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Rungs counts the answers of a class's cheaper rungs, by the reason why they were
// given. Safe for concurrent use; the zero Rungs has none.
type Rungs struct {
	mu    sync.Mutex
	names []string // in the order in which they first came
	rungs map[string]*Rung
}

// Rung counts the answers of one rung.
type Rung struct{ answered [reason.Count]atomic.Int64 }

// Answered counts an answer.
func (r *Rung) Answered(why reason.Reason) { r.answered[why].Add(1) }

// Rung returns the counts of the rung of that name, the same ones at every call: they
// survive a reload.
func (r *Rungs) Rung(name string) *Rung {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rungs == nil {
		r.rungs = make(map[string]*Rung)
	}
	n := r.rungs[name]
	if n == nil {
		n = new(Rung)
		r.rungs[name] = n
		r.names = append(r.names, name)
	}
	return n
}

// Total returns how many answers the rung of that name has given, for any reason.
func (r *Rungs) Total(name string) (n int64) {
	of := r.Rung(name)
	for why := range of.answered {
		n += of.answered[why].Load()
	}
	return n
}

// below adds the answers of the rungs below the primary that were given for a reason,
// and returns how many of n are left. They are counted apart from the account and may
// be ahead of it by what is under way.
func (s sink) below(resource string, c *boundary.ClassState, seen *Class, why reason.Reason, n int64) int64 {
	if seen == nil {
		return n
	}
	seen.Rungs.mu.Lock()
	defer seen.Rungs.mu.Unlock()
	for _, name := range seen.Rungs.names {
		if k := min(seen.Rungs.rungs[name].answered[why].Load(), n); k > 0 {
			s.add(&answered, float64(k), resource, c.Name, why.String(), name)
			n -= k
		}
	}
	return n
}
