package boundary

import (
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Advance brings the machine up to now: what was due by then happens, in the
// order of the instants at which it was due.
func (m *Machine) Advance(now unit.Instant, out *Effects) {
	if m.casts() {
		m.shadow.advanced(now, out)
		return
	}
	m.reach(now, out)
}

// advance begins an event after which another verdict is possible.
func (m *Machine) advance(now unit.Instant, out *Effects) unit.Instant {
	m.changes++
	return m.reach(now, out)
}

// reach returns the instant that the machine has reached, which is now unless
// the driver's clock ran backwards: nothing is due before m.now.
func (m *Machine) reach(now unit.Instant, out *Effects) unit.Instant {
	if m.nextDue() <= now {
		m.catchUp(now, out)
	}
	m.now = max(m.now, now)
	return m.now
}

func (m *Machine) catchUp(now unit.Instant, out *Effects) {
	for {
		at := m.due.Next()
		if m.lapses < at && m.lapses <= now {
			m.now = max(m.now, m.lapses)
			m.lapse(m.now, out)
			continue
		}
		e := m.due.Pop(now)
		if e == nil {
			return
		}
		m.now = max(m.now, at)
		m.end(m.now, e.Item, out)
		m.dispatch(m.now, out)
	}
}

// end brings a state to its end that ends by itself.
func (m *Machine) end(now unit.Instant, it *pool.Item, out *Effects) {
	c := m.classes[it.Class]
	switch it.State {
	case pool.Waiting:
		if c.parked(it) && now < c.OverAge(it) {
			m.unpark(it)
			return
		}
		why := reason.Expired
		if now < it.Deadline {
			why = reason.Evicted // passed over for as long as it may be
		}
		m.evict(now, it, why, out)
		m.admitBlocked(c, out)
	case pool.Blocked:
		why := reason.Expired
		if now < it.Deadline {
			why = reason.BlockTimeout
		}
		m.evict(now, it, why, out)
	case pool.Reserving:
		m.evict(now, it, reason.Expired, out)
	case pool.Running:
		if it.Flowing {
			if !m.stream(now, it) {
				m.flows(now, it) // perhaps later
			}
			return
		}
		m.watch(now, it, reason.Timeout, out)
		out.add(Effect{
			Kind: Overdue, Reason: reason.Timeout, Ticket: Ticket(it.Ticket), Class: it.Class,
			RetryAfter: m.turnAway(now, c, it.Tenant, reason.Timeout),
		})
		m.abandon(now, it, reason.Timeout)
	case pool.Abandoned:
		out.add(Effect{Kind: Released, Ticket: Ticket(it.Ticket), Class: it.Class})
		m.finish(now, it, Outcome{Reason: reason.Timeout})
	}
}
