package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// BudgetState is what there is to see of a budget that all of a class go by, as it is
// reckoned: never less than there is, as far as the machine can know.
type BudgetState struct {
	Name string // quota/limit
	Unit quota.Unit
	Most int64
	// Free is what could be taken now; of slots those that are free.
	Free int64
	// Dry is for how long still whoever is next waits for it; 0 if nobody does.
	Dry time.Duration
}

// QuotaState is what there is to see of a class's quotas.
type QuotaState struct {
	Budgets    []BudgetState
	Reserving  int // requests whose reservation is asked for
	DryTenants int // tenants that wait for a budget of their own
}

// Quota returns the state of the quotas of class i as of now, or nil if it has none.
func (m *Machine) Quota(now unit.Instant, i int) *QuotaState {
	c := m.classes[i]
	q := c.quota
	if q == nil {
		return nil
	}
	s := &QuotaState{Reserving: c.asking, DryTenants: len(q.thirst)}
	k := 0
	for j := range c.Quotas {
		for _, ref := range c.Quotas[j].All {
			b := &q.shared[k].Budget
			state := BudgetState{Name: c.Quotas[j].Name + "/" + ref.Name, Unit: b.Limit.Unit, Most: b.Limit.Most, Free: b.Free(m.time(max(now, m.now)))}
			if q.dry != nil && m.lacks(max(now, m.now), c, q.dry).Budget == k {
				state.Dry = max(q.dry.Due.At().Sub(max(now, m.now)), 1)
			}
			s.Budgets = append(s.Budgets, state)
			k++
		}
	}
	return s
}
