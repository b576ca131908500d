package boundary

import (
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// idle reports whether there is a slot that class c may have: one of its own,
// or one that is idle elsewhere.
func (m *Machine) idle(c *class) bool {
	return !c.Held && m.used < m.limit && c.Used() < c.Most()
}

// take gives class c a slot; idle has said that there is one.
func (m *Machine) take(c *class) {
	if !c.TryTake() && !c.TryBorrow() {
		m.bug("class %s took a slot beyond what it may have", c.Name)
	}
	if m.short > 0 {
		m.accrue()
	}
	m.used++
}

func (m *Machine) give(c *class) {
	if m.short > 0 {
		m.giveShort(c)
		return
	}
	c.Give()
	m.used--
}

// start turns an item that has been given a slot into a running one.
func (m *Machine) start(now unit.Instant, it *pool.Item) {
	it.State, it.Started = pool.Running, now
	m.count(it, pool.Running, +1)
	if it.Due.At() != it.Deadline { // who has waited mostly is due when it was
		m.due.Set(&it.Due, it.Deadline)
	}
	m.classes[it.Class].Settle(it.Tenant)
}

// dispatch hands free slots to waiters until there is no slot or no waiter
// that may have one. First the classes that are below what they are
// guaranteed, in the order of the configuration; then, in that order again,
// those that may borrow.
func (m *Machine) dispatch(now unit.Instant, out *Effects) {
	if m.waiting > 0 {
		m.handOut(now, out)
	}
}

func (m *Machine) handOut(now unit.Instant, out *Effects) {
	for m.waiting > 0 && m.used < m.limit {
		c := m.needy()
		if c == nil {
			return
		}
		it := c.Next(now)
		late := it.Deadline <= now || c.judges() && it.Deadline.Sub(now) < c.TurnTime()
		if c.quota != nil && !late && !m.affords(now, c, it, out) {
			continue
		}
		c.Turned(it, now)
		if late {
			m.evict(now, it, reason.Expired, out)
			m.admitBlocked(c, out)
			continue
		}
		m.take(c)
		c.Take(it)
		m.waiting--
		if c.quota != nil {
			m.reserve(now, c, it, out)
		} else {
			m.count(it, pool.Waiting, -1)
			m.start(now, it)
			out.add(Effect{Kind: Run, Ticket: Ticket(it.Ticket), Class: it.Class})
		}
		m.weigh(c)
		m.admitBlocked(c, out)
	}
}

// needy returns the class that the next free slot goes to, or nil.
func (m *Machine) needy() *class {
	for _, c := range m.order {
		if c.ready() && c.Used() < c.Own() {
			return c
		}
	}
	for _, c := range m.order {
		if c.ready() && c.Used() < c.Most() {
			return c
		}
	}
	return nil
}

// admitBlocked lets blocked producers into the places that came free, and says so. It
// follows whatever takes a waiter out of the room, so that nobody is blocked
// before an empty one.
func (m *Machine) admitBlocked(c *class, out *Effects) {
	for it := c.Admit(); it != nil; it = c.Admit() {
		m.waiting++
		m.due.Set(&it.Due, c.OverAge(it))
		out.add(Effect{Kind: Entered, Ticket: Ticket(it.Ticket), Class: it.Class})
	}
}
