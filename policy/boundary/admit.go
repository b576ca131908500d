package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Offer decides a request at the moment of submission.
func (m *Machine) Offer(now unit.Instant, r *Request, out *Effects) Verdict {
	c := m.classes[r.Class]
	t := c.sole
	s := &t.Standing
	if !r.plain() || !m.stands(now, s, r) || time.Duration(*s.Calendar-now) <= s.Ahead {
		return m.decide(now, r, out)
	}
	m.now = now
	why := s.Why
	s.Times++
	return Verdict{Decision: Decision{Refuse, why}, RetryAfter: s.Half + m.jitter(s.Half)}
}

// decide is Offer for whoever is not refused by rote.
func (m *Machine) decide(now unit.Instant, r *Request, out *Effects) Verdict {
	if r.Refuse != reason.None {
		return m.barred(now, r, out)
	}
	if m.casts() {
		return m.shadow.offer(now, r, out)
	}
	if r.Client != 0 {
		if v, ends := m.edge(now, r, out); ends {
			return v
		}
	}
	now = m.reach(now, out)
	c := m.classes[r.Class]
	t := c.Get(r.Tenant)
	c.tally.Offered++
	t.Tally.Offered++
	if m.stands(now, &t.Standing, r) {
		return m.refuse(now, c, t, t.Standing.Why)
	}
	deadline := c.Governs(now, r.Deadline)
	left := time.Duration(deadline - now) // if it is ahead, which is looked at first

	switch {
	case c.closed || m.draining:
		return m.refuse(now, c, t, reason.Draining)
	case deadline <= now:
		return m.refuse(now, c, t, reason.Expired)
	case now < c.byHand.Until:
		return m.refuse(now, c, t, reason.Operator)
	case c.law != nil && m.sheds(now, c, r):
		return m.refuse(now, c, t, reason.ShedForLoad)
	case c.quota != nil:
		if v, ends := m.underQuota(now, c, t, r, deadline); ends {
			return v
		}
	case c.Waiting() == 0 && m.idle(c):
		if c.judges() && left < c.RunTime() {
			return m.refuse(now, c, t, reason.Infeasible)
		}
		return m.run(now, c, t, r, deadline)
	case c.judges() && left-c.PredictWait(t, c.Level(r.Importance, r.Retry), now) < c.NeededToWait():
		return m.refuse(now, c, t, reason.Infeasible)
	}
	if r.Retry && c.FullForRetries() {
		return m.refuse(now, c, t, c.overflow())
	}
	why := c.Full(t, c.Charge(r.Bytes))
	switch {
	case why == reason.None:
		return m.wait(now, c, t, r, deadline)
	case c.rule == pool.Reject:
		m.stand(now, c, t, why, why)
		return m.refuse(now, c, t, why)
	}
	return m.full(now, c, t, r, deadline, why, out)
}

// run gives the request a slot; idle has said that there is one.
func (m *Machine) run(now unit.Instant, c *class, t *pool.Tenant, r *Request, deadline unit.Instant) Verdict {
	it := m.enrol(now, c, t, r, deadline)
	m.take(c)
	m.start(now, it)
	return Verdict{Decision: Decision{Kind: Run}, Ticket: Ticket(it.Ticket), Deadline: deadline}
}

// wait gives the request a place in the waiting room.
func (m *Machine) wait(now unit.Instant, c *class, t *pool.Tenant, r *Request, deadline unit.Instant) Verdict {
	it := m.enrol(now, c, t, r, deadline)
	m.enter(it)
	if c.quota != nil {
		m.mark(now, c)
	}
	return Verdict{Decision: Decision{Kind: Wait}, Ticket: Ticket(it.Ticket), Deadline: deadline}
}

// full applies the class's rule for a room that is full for the given reason.
func (m *Machine) full(now unit.Instant, c *class, t *pool.Tenant, r *Request, deadline unit.Instant, why reason.Reason, out *Effects) Verdict {
	bytes := c.Charge(r.Bytes)
	switch {
	case !c.Fits(bytes):
	case c.rule == pool.Drop:
		m.stand(now, c, t, why, reason.Dropped)
		return m.refuse(now, c, t, reason.Dropped)
	case c.rule == pool.Block:
		if why != reason.TenantFull && !c.FullStage() {
			return m.block(now, c, t, r, deadline)
		}
	default:
		own, ok := c.MakeWay(t, c.Level(r.Importance, r.Retry), bytes, why)
		if !ok {
			break
		}
		for range own {
			m.evict(now, c.OwnVictim(t), reason.Evicted, out)
		}
		for c.Overfull(bytes) {
			m.evict(now, c.Victim(t), reason.Evicted, out)
		}
		v := m.wait(now, c, t, r, deadline)
		m.admitBlocked(c, out) // where more than one had to make way
		return v
	}
	return m.refuse(now, c, t, why)
}

// block holds the request's producer before the room.
func (m *Machine) block(now unit.Instant, c *class, t *pool.Tenant, r *Request, deadline unit.Instant) Verdict {
	it := m.enrol(now, c, t, r, deadline)
	c.Hold(it)
	m.count(it, pool.Waiting, +1)
	m.weigh(c)
	m.due.Set(&it.Due, min(deadline, now.Add(c.Config().BlockFor)))
	c.Settle(t)
	return Verdict{Decision: Decision{Kind: Wait}, Ticket: Ticket(it.Ticket), Deadline: deadline}
}

// enter puts an enrolled item into its room.
func (m *Machine) enter(it *pool.Item) {
	c := m.classes[it.Class]
	c.Predict(it)
	c.Enter(it)
	m.waiting++
	m.count(it, pool.Waiting, +1)
	m.weigh(c)
	m.due.Set(&it.Due, c.OverAge(it))
	c.Settle(it.Tenant)
}

// enrol makes a record of the request.
func (m *Machine) enrol(now unit.Instant, c *class, t *pool.Tenant, r *Request, deadline unit.Instant) *pool.Item {
	it := m.record()
	m.seq++
	m.changes++
	it.Seq, it.Class, it.Tenant = m.seq, c.index, t
	it.Offered, it.Deadline, it.Flowing = now, deadline, false
	it.Importance = c.Level(r.Importance, r.Retry)
	it.Cost, it.Bytes = r.Cost.Clamp(), c.Charge(r.Bytes)
	if c.Config().Tenants.Timed {
		it.Cost = timed(c.Holding())
	}
	if c.quota != nil {
		it.Ask = c.askOf(r.Ask)
	}
	if r.Client != 0 {
		m.hold(c, it, r.Client)
	}
	return it
}

// refuse answers a request that ends here.
func (m *Machine) refuse(now unit.Instant, c *class, t *pool.Tenant, why reason.Reason) Verdict {
	m.wanted(c, why)
	return Verdict{Decision: Decision{Refuse, why}, RetryAfter: m.turnAway(now, c, t, why)}
}

// overflow is why a request is refused for which the room has no place.
func (c *class) overflow() reason.Reason {
	if c.rule == pool.Drop {
		return reason.Dropped
	}
	return reason.QueueFull
}

// Due returns the instant by which the caller of a request offered now is answered:
// what it names, 0 for nothing, after default and cap.
func (c *Class) Due(now, named unit.Instant) unit.Instant {
	if named == 0 {
		return now.Add(c.Deadline)
	}
	return min(named, now.Add(c.DeadlineMax))
}

// Governs returns the instant that governs such a request: Due less the reserve.
func (c *Class) Governs(now, named unit.Instant) unit.Instant {
	due := c.Due(now, named)
	if c.Reserve > 0 {
		return now.Add(ladder.InTime(due.Sub(now), c.Reserve))
	}
	return due
}

// judges reports whether the class turns away who would be answered too late. A
// pool that is nearly idle calls nothing hopeless, whatever was measured, or it
// would never measure anything else again.
func (c *class) judges() bool {
	return !c.AdmitHopeless && c.Used() > c.Own()/probeShare
}

// probeShare: one slot in eight, and one more, goes on trying when
// measurements say that no deadline can be met. More find out sooner that the
// service has recovered, and waste more of it while it has not.
const probeShare = 8
