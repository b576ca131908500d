package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Offer decides a request at the moment of submission.
func (m *Machine) Offer(now unit.Instant, r *Request, out *Effects) Verdict {
	now = m.advance(now, out)
	c := m.classes[r.Class]
	t := c.Get(r.Tenant)
	c.tally.Offered++
	t.Tally.Offered++
	deadline := c.deadline(now, r.Deadline)

	if c.closed || m.draining {
		return m.refuse(now, c, t, reason.Draining)
	}
	if deadline <= now {
		return m.refuse(now, c, t, reason.Expired)
	}
	left := deadline.Sub(now)
	if c.Waiting() == 0 && m.idle(c) {
		if m.hopeless(c, left, c.RunTime()) {
			return m.refuse(now, c, t, reason.Infeasible)
		}
		it := m.enrol(now, c, t, r, deadline)
		m.take(c)
		m.start(now, it)
		return Verdict{Kind: Run, Ticket: Ticket(it.Ticket), Deadline: deadline}
	}
	left -= c.PredictWait(t, level(c.Config(), r.Importance), now)
	if m.hopeless(c, left, c.ServiceTime()) {
		return m.refuse(now, c, t, reason.Infeasible)
	}
	return m.queue(now, c, t, r, deadline, out)
}

// queue finds the request a place in the waiting room, or says why there is
// none.
func (m *Machine) queue(now unit.Instant, c *class, t *pool.Tenant, r *Request, deadline unit.Instant, out *Effects) Verdict {
	cfg := c.Config()
	if cfg.MemoryLimit > 0 && r.Bytes > cfg.MemoryLimit {
		return m.refuse(now, c, t, reason.QueueBytes) // it would not fit an empty room
	}
	bytes := clampBytes(r.Bytes)
	why := c.Full(t, bytes)
	if why != reason.None && cfg.WhenFull.Evicts() {
		if own, ok := c.MakeWay(t, level(cfg, r.Importance), bytes, why); ok {
			for range own {
				m.evict(now, c.OwnVictim(t), reason.Evicted, out)
			}
			for c.Overfull(bytes) {
				m.evict(now, c.Victim(t), reason.Evicted, out)
			}
			why = reason.None
		}
	}
	switch {
	case why == reason.None:
		it := m.enrol(now, c, t, r, deadline)
		m.enter(it)
		m.admitBlocked(c) // where more than one had to make way
		return Verdict{Kind: Wait, Ticket: Ticket(it.Ticket), Deadline: deadline}
	case cfg.WhenFull == pool.Drop:
		return m.refuse(now, c, t, reason.Dropped)
	case cfg.WhenFull == pool.Block && why != reason.TenantFull && !c.FullStage():
		it := m.enrol(now, c, t, r, deadline)
		c.Hold(it)
		m.count(it, pool.Waiting, +1)
		m.due.Set(&it.Due, min(deadline, now.Add(cfg.BlockFor)))
		c.Settle(t)
		return Verdict{Kind: Wait, Ticket: Ticket(it.Ticket), Deadline: deadline}
	}
	return m.refuse(now, c, t, why)
}

// enter puts an enrolled item into its room.
func (m *Machine) enter(it *pool.Item) {
	c := m.classes[it.Class]
	c.Enter(it)
	m.waiting++
	m.count(it, pool.Waiting, +1)
	m.due.Set(&it.Due, c.OverAge(it))
	c.Settle(it.Tenant)
}

// enrol makes a record of the request.
func (m *Machine) enrol(now unit.Instant, c *class, t *pool.Tenant, r *Request, deadline unit.Instant) *pool.Item {
	it := m.record()
	m.seq++
	it.Seq, it.Class, it.Tenant = m.seq, c.index, t
	it.Offered, it.Deadline, it.Flowing = now, deadline, false
	it.Importance = level(c.Config(), r.Importance)
	it.Cost, it.Bytes = r.Cost.Clamp(), clampBytes(r.Bytes)
	if c.Config().Tenants.Timed {
		it.Cost = timed(c.Holding())
	}
	return it
}

// bytesMax bounds what a single request may be said to retain, so that sums
// stay far from overflow.
const bytesMax = 1 << 40

func clampBytes(n int64) int64 { return min(max(n, 0), bytesMax) }

// refuse accounts for a request that ends here.
func (m *Machine) refuse(now unit.Instant, c *class, t *pool.Tenant, why reason.Reason) Verdict {
	c.tally.Answered[why]++
	t.Tally.Answered[why]++
	c.Settle(t)
	return Verdict{Kind: Refuse, Reason: why, RetryAfter: m.promise(now, c, t, why)}
}

// deadline returns the instant that governs a request offered now.
func (c *class) deadline(now, named unit.Instant) unit.Instant {
	if named == 0 {
		return now.Add(c.Deadline)
	}
	return min(named, now.Add(c.DeadlineMax))
}

// hopeless reports whether a request with so much time left, once it has a
// slot, would be answered too late if serving it took that long. A pool that is
// nearly idle calls nothing hopeless, whatever was measured, or it would never
// measure anything else again.
func (m *Machine) hopeless(c *class, left, serving time.Duration) bool {
	return left < serving && !c.AdmitHopeless && c.Used() > c.Own()/probeShare
}

// probeShare: one slot in eight, and one at the least, goes on trying when
// measurements say that no deadline can be met. More find out sooner that the
// service has recovered, and waste more of it while it has not.
const probeShare = 8

func level(cfg *pool.Config, importance int) uint8 {
	return uint8(min(max(importance, 0), max(cfg.Levels-1, 0), pool.LevelsMax-1))
}
