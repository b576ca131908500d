package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Done reports that the work of a request has ended: its slot is free. For a
// ticket that is void, because the work was finished before or the slot was
// taken from it by the hard cap (the Released effect says so), it changes
// nothing and is counted among Bugs.
func (m *Machine) Done(now unit.Instant, t Ticket, o Outcome, out *Effects) {
	if m.casts() {
		m.shadow.done(now, t, o, out)
		return
	}
	now = m.advance(now, out)
	it := m.find(t)
	if it == nil || it.State != pool.Running && it.State != pool.Abandoned && it.State != pool.Streaming {
		m.bug("done: ticket %x does not run", uint64(t))
		return
	}
	m.finish(now, it, o)
	m.dispatch(now, out)
}

// Leave reports that the caller of a request is gone. A waiting one leaves the
// room at once. One that was granted a slot but has not been started gives the
// slot back, also if its deadline has passed meanwhile: it is the only way in
// which a grant that raced with leaving is returned. For work that has started,
// see Abandon.
func (m *Machine) Leave(now unit.Instant, t Ticket, out *Effects) {
	if m.casts() {
		m.shadow.left(now, t, out)
		return
	}
	now = m.advance(now, out)
	it := m.find(t)
	if it == nil {
		return // it was answered at the same instant: leaving lost the race
	}
	switch it.State {
	case pool.Waiting, pool.Blocked, pool.Reserving:
		m.answer(it, reason.CallerGone)
		m.withdraw(it)
		m.admitBlocked(m.classes[it.Class], out)
	case pool.Running, pool.Abandoned, pool.Streaming: // even if its deadline has passed since
		m.finish(now, it, Outcome{Reason: reason.None})
	}
	m.dispatch(now, out)
}

// Answered reports that the answer has begun to flow: the deadline is met and
// no longer ends the request, and the time until now, not the length of the
// stream, is what serving took.
func (m *Machine) Answered(now unit.Instant, t Ticket, out *Effects) {
	if m.casts() {
		m.shadow.answered(now, t, out)
		return
	}
	now = m.advance(now, out)
	it := m.find(t)
	if it == nil || it.State != pool.Running || it.Flowing {
		return
	}
	it.Flowing = true
	m.due.Strike(&it.Due)
	m.flows(now, it)
	m.classes[it.Class].Began(now.Sub(it.Started))
	m.learn(now, it, reason.Served)
	m.dispatch(now, out)
}

// Abandon reports that the caller of running work has been answered with the
// given reason, or has gone (CallerGone), while the work goes on. It keeps its
// slot, is counted as abandoned, and is let go at the class's hard cap.
func (m *Machine) Abandon(now unit.Instant, t Ticket, why reason.Reason, out *Effects) {
	if m.casts() {
		m.shadow.abandoned(now, t, why, out)
		return
	}
	now = m.advance(now, out)
	if it := m.find(t); it != nil && it.State == pool.Running {
		if why == reason.Timeout {
			m.watch(now, it, why, out)
		}
		m.answer(it, m.known(why))
		m.abandon(now, it, why)
		m.dispatch(now, out)
	}
}

// abandon lets the work of a request go on that has been answered.
func (m *Machine) abandon(now unit.Instant, it *pool.Item, why reason.Reason) {
	m.learn(now, it, why)
	m.count(it, pool.Running, -1)
	it.State = pool.Abandoned
	m.count(it, pool.Abandoned, +1)
	m.due.Set(&it.Due, now.Add(m.classes[it.Class].HoldAtMost))
}

// finish takes the slot back from work that ran, and learns from it.
func (m *Machine) finish(now unit.Instant, it *pool.Item, o Outcome) {
	c := m.classes[it.Class]
	if it.State == pool.Abandoned {
		m.count(it, pool.Abandoned, -1)
	} else {
		m.count(it, pool.Running, -1)
		m.answer(it, m.known(o.Reason))
	}
	if o.Reason != reason.None && o.Reason != reason.BreakerOpen { // neither was ever called
		held := now.Sub(it.Started)
		if it.State != pool.Streaming { // its slot was measured when it gave it back
			c.Ended(held, o.Reason == reason.Served && !it.Flowing)
			if it.State == pool.Running && !it.Flowing {
				m.learn(now, it, o.Reason)
			}
			if c.Config().Tenants.Timed {
				o.Cost = timed(held)
			}
		}
		if o.Cost > 0 {
			c.Correct(it.Tenant, o.Cost.Clamp()-it.Cost)
		}
	}
	t := it.Tenant
	if it.Ask != nil && c.quota != nil {
		m.ended(now, c, it, o)
	}
	if it.State == pool.Streaming {
		m.unstream(it)
	} else {
		m.give(c)
	}
	m.forget(it)
	c.Settle(t)
	if c.ebbs() {
		m.retire(c)
	}
}

// timed is the cost of holding a slot for d.
func timed(d time.Duration) unit.Cost { return unit.Cost(d / time.Microsecond).Clamp() }

// known returns the reason to enter into the account: None stands for a caller
// that left.
func (m *Machine) known(why reason.Reason) reason.Reason {
	switch {
	case why == reason.None:
		return reason.CallerGone
	case int(why) >= reason.Count:
		return m.unknown(why)
	}
	return why
}

func (m *Machine) unknown(why reason.Reason) reason.Reason {
	m.bug("a request was answered with %v", why)
	return reason.Unknown
}

// evict answers a waiting or blocked item and takes it out of its room.
func (m *Machine) evict(now unit.Instant, it *pool.Item, why reason.Reason, out *Effects) {
	m.watch(now, it, why, out)
	out.add(Effect{
		Kind: Refuse, Reason: why, Ticket: Ticket(it.Ticket), Class: it.Class,
		RetryAfter: m.turnAway(now, m.classes[it.Class], it.Tenant, why),
	})
	m.withdraw(it)
}

// withdraw takes a waiting or blocked item out of the room that has been
// answered. Whom its place goes to is the caller's affair, see admitBlocked.
func (m *Machine) withdraw(it *pool.Item) {
	c, t := m.classes[it.Class], it.Tenant
	switch it.State {
	case pool.Reserving:
		m.unreserve(c, it)
	case pool.Waiting:
		m.waiting--
		if c.quota != nil {
			m.loosen(c, it)
		}
		c.Remove(it)
	default:
		c.Remove(it)
	}
	m.count(it, pool.Waiting, -1)
	m.weigh(c)
	m.forget(it)
	c.Settle(t)
	if c.ebbs() {
		m.retire(c)
	}
}
