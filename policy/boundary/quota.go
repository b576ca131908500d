package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Whether a call may be sent under a quota a store decides, which others may use too
// and which takes its time. So the machine asks: who is next holds its slot while its
// reservation is asked for, and runs when that is answered. What the store would say
// the machine reckons beforehand, by the same arithmetic from what it knows: what it
// has had reserved itself, what was settled since, what was refused. It is never less
// than there is, as far as the machine can know. So
//
//	at admission   who could not have its budget inside its deadline, were all those
//	               who are sure to go first served, is told so
//	in the room    who is next and would be refused is not asked for: it keeps its
//	               place until the instant at which it could fit, or something is
//	               settled, and holds nothing
//
// A budget that all go by, and that is dry, has all wait: whoever asks for less does
// not get by. A tenant whose own budget is dry is out of the schedule, and nobody else
// waits for it.
//
// Where the store refuses all the same, others have been there: then one at a time is
// asked for, and one more at once with each that is granted.

// reckoned is a budget that all go by, as it is reckoned.
type reckoned struct {
	quota.Budget
	calendar unit.Instant // the next instant promised to one that it refused
}

// reckoning is what a class knows of its budgets.
type reckoning struct {
	shared []*reckoned    // of all quotas, in their order
	dry    *pool.Item     // whose turn it was when one of those was dry; nil: none is
	wide   int            // how many tenants' budgets there can be
	list   []quota.Budget // of the request that is looked at: those, then the tenant's
	thirst []*pool.Tenant // who are dry
	most   int            // how many may be asked for at once
	one    *quota.Ask     // of a request that says nothing
}

// asksMost stands for as many as there are slots.
const asksMost = 1 << 30

// time is the machine's, as a store's.
func (m *Machine) time(now unit.Instant) quota.Time {
	return quota.Time{Run: now, Wall: m.wall.Add(time.Duration(now))}
}

// requota gives the class the reckoning that its configuration asks for. What was
// reckoned of budgets that are still there goes on; tenants' begin anew.
func (m *Machine) requota(now unit.Instant, c *class) {
	if len(c.Quotas) == 0 {
		c.quota = nil
		return
	}
	if c.quota == nil {
		c.quota = &reckoning{most: asksMost, one: &quota.Ask{Amounts: quota.One()}}
	}
	q := c.quota
	q.shared, q.wide = q.shared[:0], 0
	for i := range c.Quotas {
		of := &c.Quotas[i]
		for _, ref := range of.All {
			q.shared = append(q.shared, m.reckon(now, of.Name+"/"+ref.Name, ref.Limit))
		}
		q.wide += len(of.Tenant) + len(of.Tenants)
	}
	c.Each(func(t *pool.Tenant) { t.Budgets = nil })
}

func (m *Machine) reckon(now unit.Instant, name string, l quota.Limit) *reckoned {
	b := m.budgets[name]
	switch {
	case b == nil:
		b = &reckoned{Budget: quota.NewBudget(l, m.time(now))}
		if m.budgets == nil {
			m.budgets = make(map[string]*reckoned)
		}
		m.budgets[name] = b
	case b.Limit != l:
		b.Relimit(m.time(now), l)
	}
	return b
}

// own returns the budgets that are the tenant's alone.
func (m *Machine) own(now unit.Instant, c *class, t *pool.Tenant) *pool.Budgets {
	if t.Budgets == nil {
		t.Budgets = new(pool.Budgets)
		for i := range c.Quotas {
			for _, ref := range c.Quotas[i].OfTenant(t.Name) {
				t.Budgets.List = append(t.Budgets.List, quota.NewBudget(ref.Limit, m.time(now)))
			}
		}
	}
	return t.Budgets
}

// budgetsOf returns all budgets that a request of the tenant takes of, to be looked at or
// changed; keep takes the changes over.
func (m *Machine) budgetsOf(now unit.Instant, c *class, t *pool.Tenant) []quota.Budget {
	q := c.quota
	q.list = q.list[:0]
	for _, b := range q.shared {
		q.list = append(q.list, b.Budget)
	}
	if q.wide > 0 {
		q.list = append(q.list, m.own(now, c, t).List...)
	}
	return q.list
}

func (q *reckoning) keep(t *pool.Tenant) {
	for i := range q.list {
		q.list[i].Held = max(q.list[i].Held, 0)
	}
	for i, b := range q.shared {
		b.Budget = q.list[i]
	}
	if q.wide > 0 {
		copy(t.Budgets.List, q.list[len(q.shared):])
	}
}

// spend takes what the request asks for of what is reckoned, if that has room.
func (m *Machine) spend(now unit.Instant, c *class, t *pool.Tenant, ask *quota.Ask) quota.Verdict {
	v := quota.Decide(m.time(now), m.budgetsOf(now, c, t), ask.Amounts)
	if v.OK() {
		c.quota.keep(t)
	}
	return v
}

// unspend takes that back: the call was never sent.
func (m *Machine) unspend(now unit.Instant, c *class, t *pool.Tenant, ask *quota.Ask) {
	r := quota.Reservation{Taken: ask.Amounts, At: m.time(now)}
	_ = r.Release(0, m.time(now), m.budgetsOf(now, c, t)) // of one that is reserved it is no error
	c.quota.keep(t)
}

// lacks returns what spend would, and changes nothing.
func (m *Machine) lacks(now unit.Instant, c *class, it *pool.Item) quota.Verdict {
	return quota.Foresee(m.time(now), m.budgetsOf(now, c, it.Tenant), quota.Amounts{}, c.askOf(it.Ask).Amounts, 0)
}

// askOf is what a request asks for, or what one takes that says nothing.
func (c *class) askOf(ask *quota.Ask) *quota.Ask {
	if ask == nil {
		return c.quota.one
	}
	return ask
}

// mayAsk reports whether the class may have another reservation asked for.
func (c *class) mayAsk() bool {
	return c.Ready() > 0 && c.quota.dry == nil && c.asking < c.quota.most
}

// ready reports whether somebody of the class waits who may have a slot.
func (c *class) ready() bool {
	return c.Waiting() > 0 && !c.Held && (c.quota == nil || c.mayAsk())
}
