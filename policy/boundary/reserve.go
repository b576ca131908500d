package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// underQuota decides whether a request of a class under quotas may be let in, and
// has its reservation asked for if it is the one whose turn it is. It reports whether
// the request ends here or runs; else it is for the room.
func (m *Machine) underQuota(now unit.Instant, c *class, t *pool.Tenant, r *Request, deadline unit.Instant) (Verdict, bool) {
	left := time.Duration(deadline - now)
	level := c.Level(r.Importance, r.Retry)
	next := c.Ready() == 0 && m.idle(c) && c.quota.dry == nil && !t.Dry() && c.asking < c.quota.most
	wait, needs := time.Duration(0), c.RunTime()
	if !next {
		wait, needs = c.PredictWait(t, level, now), c.NeededToWait()
	}
	if c.judges() && left-wait < needs {
		return m.refuse(now, c, t, reason.Infeasible), true
	}
	ask := c.askOf(r.Ask)
	v := quota.Foresee(m.time(now), m.budgetsOf(now, c, t), c.Asked(t, level, now), ask.Amounts, c.Holding())
	if v.Never() || !v.OK() && c.tooLate(v, left, c.NeededToWait()) {
		return m.refuseFor(now, c, t, ask, v), true
	}
	if next && v.OK() && m.spend(now, c, t, ask).OK() {
		return m.reserveAtOnce(now, c, t, r, deadline), true
	}
	return Verdict{}, false
}

// reserveAtOnce gives the request a slot and has its reservation asked for.
func (m *Machine) reserveAtOnce(now unit.Instant, c *class, t *pool.Tenant, r *Request, deadline unit.Instant) Verdict {
	it := m.enrol(now, c, t, r, deadline)
	m.take(c)
	m.weigh(c) // somebody without budget may wait
	if m.shadow != nil && m.shadow.deciding {
		m.start(now, it)
		return Verdict{Decision: Decision{Kind: Run}, Ticket: Ticket(it.Ticket), Deadline: deadline}
	}
	m.count(it, pool.Waiting, +1)
	m.reserving(c, it)
	return Verdict{Decision: Decision{Kind: Reserve}, Ticket: Ticket(it.Ticket), Deadline: deadline}
}

// reserving has a request hold its slot while its reservation is asked for.
func (m *Machine) reserving(c *class, it *pool.Item) {
	it.State = pool.Reserving
	c.asking++
	m.due.Set(&it.Due, it.Deadline)
	c.Settle(it.Tenant)
}

// reserve is what becomes of a waiter that was just given a slot. One that lives
// twice has nobody who would answer: it has what is reckoned.
func (m *Machine) reserve(now unit.Instant, c *class, it *pool.Item, out *Effects) {
	it.Ask = c.askOf(it.Ask)
	if m.shadow != nil && m.shadow.at(Ticket(it.Ticket)) != nil {
		m.count(it, pool.Waiting, -1)
		m.start(now, it)
		out.add(Effect{Kind: Run, Ticket: Ticket(it.Ticket), Class: it.Class})
		return
	}
	m.reserving(c, it)
	out.add(Effect{Kind: Reserve, Ticket: Ticket(it.Ticket), Class: it.Class})
}

// affords spends what the waiter whose turn it is asks for. If there is no room it is
// parked at its place, or refused where it could not have it in time.
func (m *Machine) affords(now unit.Instant, c *class, it *pool.Item, out *Effects) bool {
	ask := c.askOf(it.Ask)
	v := m.spend(now, c, it.Tenant, ask)
	switch {
	case v.OK():
		return true
	case v.Never() || c.tooLate(v, it.Deadline.Sub(now), c.TurnTime()):
		m.turnOut(now, it, v, out)
		m.admitBlocked(c, out)
	default:
		m.park(now, c, it, v)
	}
	return false
}

// tooLate reports that a budget has room too late for who has so much left and needs
// so much of it to be served: it would be spent for nothing. That holds in a pool that
// is idle too; who need not wait for budget goes on measuring there.
func (c *class) tooLate(v quota.Verdict, left, needs time.Duration) bool {
	return v.After >= left || !c.AdmitHopeless && v.After > left-needs
}

// Reserved reports that the store has reserved what the request asked for: it runs.
// It returns false if nobody is there to use it any more, and then the driver releases
// it.
func (m *Machine) Reserved(now unit.Instant, t Ticket, out *Effects) bool {
	if m.casts() {
		defer m.shadow.passing(now, out)()
	}
	now = m.advance(now, out)
	it := m.find(t)
	if it == nil || it.State != pool.Reserving {
		return false
	}
	c := m.classes[it.Class]
	c.asking--
	if q := c.quota; q != nil {
		q.most = min(q.most+1, asksMost)
	}
	m.count(it, pool.Waiting, -1)
	m.start(now, it)
	out.add(Effect{Kind: Run, Ticket: t, Class: it.Class})
	m.dispatch(now, out)
	return true
}

// NotReserved reports that the store has reserved nothing, and why; a Budget is
// counted in the order of quota.Quota.Append over the class's quotas. If it has room
// in time for the request that goes back to its place, holding nothing; else it is
// refused. A verdict without a time, of anything but slots, is a store that cannot
// say: the request is refused for its reason.
func (m *Machine) NotReserved(now unit.Instant, t Ticket, v quota.Verdict, out *Effects) {
	if m.casts() {
		defer m.shadow.passing(now, out)()
	}
	now = m.advance(now, out)
	it := m.find(t)
	if it == nil || it.State != pool.Reserving {
		return
	}
	c := m.classes[it.Class]
	q := c.quota
	if q == nil || v.Reason == reason.LedgerUnavailable || v.Never() {
		v.Budget = -1
		m.turnOut(now, it, v, out)
		m.dispatch(now, out)
		return
	}
	where, ok := c.place(it, v.Budget)
	m.unreserve(c, it)
	q.most = 1
	v.Budget, v.After = where, max(v.After, again(c, v))
	if ok {
		list := m.budgetsOf(now, c, it.Tenant)
		list[where].Lacked(m.time(now), it.Ask.Amounts[list[where].Limit.Unit], v.After)
		q.keep(it.Tenant)
	}
	if !ok || c.tooLate(v, it.Deadline.Sub(now), c.TurnTime()) {
		m.turnOutOfNone(now, it, v, out)
	} else {
		c.Return(it)
		m.waiting++
		m.park(now, c, it, v)
	}
	m.weigh(c)
	m.dispatch(now, out)
}

// again is how long a store is left alone that has refused, at the least: where slots
// are held by others, a part of the time in which one comes free.
func again(c *class, v quota.Verdict) time.Duration {
	if v.Reason != reason.QuotaConcurrency {
		return againLeast
	}
	return min(max(c.Holding()/againShare, againLeast), againMost)
}

const (
	againShare = 32
	againLeast = time.Millisecond
	againMost  = 250 * time.Millisecond
)

// place returns which of the reckoned budgets a store's is, and false for one that is
// not reckoned: a model's.
func (c *class) place(it *pool.Item, i int) (int, bool) {
	shared, tenant := 0, len(c.quota.shared)
	for k := range c.Quotas {
		q := &c.Quotas[k]
		all, own, model := len(q.All), len(q.OfTenant(it.Tenant.Name)), len(q.OfModel(it.Ask.Model))
		switch {
		case i < 0:
			return -1, false
		case i < all:
			return shared + i, true
		case i < all+own:
			return tenant + i - all, true
		case i < all+own+model:
			return -1, false
		}
		i -= all + own + model
		shared, tenant = shared+all, tenant+own
	}
	return -1, false
}

// unreserve takes the slot, and what is reckoned, back from a request that was being
// reserved for.
func (m *Machine) unreserve(c *class, it *pool.Item) {
	c.asking--
	if c.quota != nil {
		m.unspend(m.now, c, it.Tenant, it.Ask)
	}
	m.give(c)
}

// Settlement is what became of a call that had been reserved for, when the store knows
// it too.
type Settlement struct {
	Class  int
	Tenant string
	// Taken is what was reserved, at At; Used what it used in the end. The zero Taken
	// is of a reservation that the machine did not ask for: it learns that there may
	// be room.
	Taken, Used quota.Amounts
	At          unit.Instant
	// Unsent: it was never sent, and has used nothing.
	Unsent bool
}

// Settled reports that a reservation has come to its end, or that nobody knows of its
// end: then Used is what it had taken, and its slot will be refused by the store for as
// long as that keeps it. Whoever waits for budget is looked at again.
func (m *Machine) Settled(now unit.Instant, s *Settlement, out *Effects) {
	if m.casts() {
		defer m.shadow.passing(now, out)()
	}
	now = m.advance(now, out)
	m.settle(now, m.classes[s.Class], s)
	m.dispatch(now, out)
}

func (m *Machine) settle(now unit.Instant, c *class, s *Settlement) {
	if c.quota == nil {
		return
	}
	t := c.Find(s.Tenant[:min(len(s.Tenant), pool.NameMax)])
	if t != nil && s.Taken != (quota.Amounts{}) {
		r := quota.Reservation{Taken: s.Taken, At: m.time(s.At)}
		list := m.budgetsOf(now, c, t)
		if s.Unsent {
			_ = r.Release(0, m.time(now), list) // of one that is reserved it is no error
		} else {
			_ = r.Start(0)
			_ = r.Settle(0, m.time(now), list, s.Used) // nor of one that is started
		}
		c.quota.keep(t)
	}
	if t != nil && t.Dry() {
		m.unpark(t.Budgets.Head)
	}
	for _, o := range m.classes {
		if o.quota != nil && o.quota.dry != nil {
			m.unpark(o.quota.dry)
		}
	}
}

// ended is what the end of work says of its budgets. What was never begun has spent
// nothing. Of all else the driver tells when the store knows, but for one that lives
// twice: nobody has reserved anything for it, and its end is known.
func (m *Machine) ended(now unit.Instant, c *class, it *pool.Item, o Outcome) {
	switch {
	case o.Reason == reason.None:
		m.unspend(now, c, it.Tenant, it.Ask)
	case m.shadow != nil && m.shadow.at(Ticket(it.Ticket)) != nil:
		m.settle(now, c, &Settlement{Tenant: it.Tenant.Name, Taken: it.Ask.Amounts, Used: it.Ask.Amounts, At: it.Started})
	}
}

// Asked is what a request that is being reserved for takes, and until when somebody
// waits for it.
type Asked struct {
	Tenant   string
	Ask      quota.Ask
	Quotas   []quota.Quota // the class's
	Deadline unit.Instant
}

// Asked returns that of the request with the ticket, or nothing.
func (m *Machine) Asked(t Ticket) Asked {
	it := m.find(t)
	if it == nil || it.Ask == nil {
		return Asked{}
	}
	return Asked{it.Tenant.Name, *it.Ask, m.classes[it.Class].Quotas, it.Deadline}
}
