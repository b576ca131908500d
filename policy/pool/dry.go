package pool

import (
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A tenant whose own budgets have no room for what it wants next is dry. It keeps
// its places and is no part of the schedule: nobody else waits for it.

// Budgets are a tenant's own.
type Budgets struct {
	List     []quota.Budget
	Calendar unit.Instant // the next instant promised to one that they refused
	Head     *Item        // whose turn it was when the tenant became dry
	Index    int          // for the boundary, among its dry tenants
}

// Dry reports whether the tenant is.
func (t *Tenant) Dry() bool { return t.dry }

// Ready returns how many wait whom the schedule may choose.
func (r *Room) Ready() int { return r.waiting - r.dry }

// Dry takes a tenant out of the schedule. Under Fifo, which has none, it must not
// be called.
func (r *Room) Dry(t *Tenant) {
	if !t.dry {
		t.dry = true
		r.dry += t.queue[0].len
		r.scheduler.Leave(&t.flow)
	}
}

// Wet puts it back, at the end of a round.
func (r *Room) Wet(t *Tenant) {
	if t.dry {
		t.dry = false
		r.dry -= t.queue[0].len
		if t.queue[0].len > 0 {
			r.join(t)
		}
	}
}

func (r *Room) join(t *Tenant) {
	if !t.dry {
		r.scheduler.Join(&t.flow)
	}
}

func (r *Room) entered(it *Item) {
	r.waiting++
	r.bytes += it.Bytes
	if it.Tenant.dry {
		r.dry++
	}
}

// Return brings an item that Take took out back to its old place: it has not been
// run, and its tenant is charged nothing.
func (r *Room) Return(it *Item) {
	it.State = Waiting
	it.Importance = min(it.Importance, uint8(len(r.levels)-1)) // there may have been more when it was taken
	t := it.Tenant
	t.queue[0].insert(it, byTenant)
	r.levels[it.Importance].insert(it, byLevel)
	if t.levels != nil {
		t.levels[it.Importance].insert(it, byTenantLevel)
	}
	if r.scheduler != nil {
		if t.queue[0].len == 1 {
			r.join(t)
		}
		r.scheduler.Return(&t.flow, it.Cost)
	}
	r.entered(it)
}

// Asked returns what those have asked for who are sure to leave before an arrival of
// t with that importance; see ahead.
func (r *Room) Asked(t *Tenant, importance uint8, now unit.Instant) (sum quota.Amounts) {
	levels := r.levels
	if r.scheduler != nil {
		levels = t.lists()
	}
	q := &levels[importance]
	for i := range levels[:importance] {
		if asked := levels[i].asked; asked != nil {
			sum.Add(asked)
		}
	}
	if q.asked != nil && !r.newestFirst(q, now) {
		sum.Add(q.asked)
	}
	return sum
}
