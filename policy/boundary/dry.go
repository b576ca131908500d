package boundary

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// park has a waiter for whom a budget has no room stand for all who have to wait with
// it, until it could have. A slot of which nobody knows when it comes free is waited
// for until something is settled.
func (m *Machine) park(now unit.Instant, c *class, it *pool.Item, v quota.Verdict) {
	until := unit.Never
	if v.After > 0 {
		until = now.Add(v.After)
	}
	if v.Budget < len(c.quota.shared) {
		if before := c.quota.dry; before != nil {
			m.unpark(before)
		}
		c.quota.dry = it
	} else {
		m.dry(c, it)
	}
	m.due.Set(&it.Due, min(m.overAge(c, it), until))
}

func (m *Machine) dry(c *class, it *pool.Item) {
	t, q := it.Tenant, c.quota
	if t.Dry() {
		m.unpark(t.Budgets.Head)
	}
	c.Dry(t)
	t.Budgets.Head, t.Budgets.Index = it, len(q.thirst)
	q.thirst = append(q.thirst, t)
}

func (m *Machine) wet(c *class, t *pool.Tenant) {
	q := c.quota
	last := q.thirst[len(q.thirst)-1]
	q.thirst[t.Budgets.Index], last.Budgets.Index = last, t.Budgets.Index
	q.thirst = q.thirst[:len(q.thirst)-1]
	t.Budgets.Head = nil
	c.Wet(t)
}

// parked reports whether the item stands for others too.
func (c *class) parked(it *pool.Item) bool {
	return c.quota != nil && (c.quota.dry == it || it.Tenant.Dry() && it.Tenant.Budgets.Head == it)
}

// unpark ends that; whoever calls it hands out slots.
func (m *Machine) unpark(it *pool.Item) {
	c := m.classes[it.Class]
	m.loosen(c, it)
	m.due.Set(&it.Due, m.overAge(c, it))
}

// overAge is when a waiter is answered, served or not: not before now, whatever a
// new configuration makes of it.
func (m *Machine) overAge(c *class, it *pool.Item) unit.Instant { return max(c.OverAge(it), m.now) }

// loosen is unpark for an item that is about to leave the room.
func (m *Machine) loosen(c *class, it *pool.Item) {
	if c.quota.dry == it {
		c.quota.dry = nil
	}
	if t := it.Tenant; t.Dry() && t.Budgets.Head == it {
		m.wet(c, t)
	}
}

// loosenAll has nobody of the class wait for a budget any more.
func (m *Machine) loosenAll(c *class) {
	if c.quota == nil {
		return
	}
	if c.quota.dry != nil {
		m.unpark(c.quota.dry)
	}
	for len(c.quota.thirst) > 0 {
		m.unpark(c.quota.thirst[0].Budgets.Head)
	}
}

// mark finds out, after an offer has let somebody in, whom the room waits for: nobody
// may stand beside a free slot but for want of budget. Who could go goes when time
// next passes, which it does at once.
func (m *Machine) mark(now unit.Instant, c *class) {
	for c.mayAsk() && m.idle(c) {
		it := c.Next(now)
		v := m.lacks(now, c, it)
		if !v.OK() {
			m.park(now, c, it, v)
			continue
		}
		c.quota.dry = it
		m.due.Set(&it.Due, now)
	}
}

// refuseFor refuses a request because of its budgets.
func (m *Machine) refuseFor(now unit.Instant, c *class, t *pool.Tenant, ask *quota.Ask, v quota.Verdict) Verdict {
	c.tally.Answered[v.Reason]++
	t.Tally.Answered[v.Reason]++
	after := m.comeBack(now, c, t, ask, v)
	c.Settle(t)
	return Verdict{Decision: Decision{Refuse, v.Reason}, RetryAfter: after}
}

// turnOut refuses a waiter, or one that is being reserved for, because of its budgets.
func (m *Machine) turnOut(now unit.Instant, it *pool.Item, v quota.Verdict, out *Effects) {
	m.tellOut(now, it, v, out)
	m.withdraw(it)
}

// turnOutOfNone does it for one that is in no list and holds nothing.
func (m *Machine) turnOutOfNone(now unit.Instant, it *pool.Item, v quota.Verdict, out *Effects) {
	m.tellOut(now, it, v, out)
	c, t := m.classes[it.Class], it.Tenant
	m.count(it, pool.Waiting, -1)
	m.forget(it)
	c.Settle(t)
	if c.ebbs() {
		m.retire(c)
	}
}

func (m *Machine) tellOut(now unit.Instant, it *pool.Item, v quota.Verdict, out *Effects) {
	c := m.classes[it.Class]
	m.watch(now, it, v.Reason, out)
	m.answer(it, v.Reason)
	out.add(Effect{
		Kind: Refuse, Reason: v.Reason, Ticket: Ticket(it.Ticket), Class: it.Class,
		RetryAfter: m.comeBack(now, c, it.Tenant, it.Ask, v),
	})
}

// comeBack returns when who was refused because of its budgets should come back. Each
// gets the next instant of the budget that refused it, one of three that it has room
// for; see promise.go. What is further away than any hint may be is told as it is: a
// window that ends tonight ends tonight. What can never be is told no instant.
func (m *Machine) comeBack(now unit.Instant, c *class, t *pool.Tenant, ask *quota.Ask, v quota.Verdict) time.Duration {
	if v.Never() {
		return 0
	}
	calendar, step := &c.calendar, promised*c.Interval()
	if q := c.quota; q != nil && v.Budget >= 0 {
		l := new(quota.Limit)
		if v.Budget < len(q.shared) {
			l, calendar = &q.shared[v.Budget].Limit, &q.shared[v.Budget].calendar
		} else {
			own := m.own(now, c, t)
			l, calendar = &own.List[v.Budget-len(q.shared)].Limit, &own.Calendar
		}
		step = promised * l.Interval(c.askOf(ask).Amounts, c.Holding())
	}
	if step <= 0 {
		step = stepUnknown
	}
	fits := now.Add(v.After)
	if v.After > c.RetryAfterMax {
		return v.After + m.jitter(c.RetryAfterMax/2)
	}
	at := max(calendar.Add(step), fits)
	hint := at.Sub(now)
	if hint > c.RetryAfterMax {
		hint = c.RetryAfterMax / 2
		return max(hint+m.jitter(hint), v.After)
	}
	*calendar = at
	return max(min(hint+m.jitter(min(step, hint)/2), c.RetryAfterMax), 1)
}

// checkDry returns what is wrong with who waits for a budget.
func (m *Machine) checkDry(c *class, reserving int64) error {
	q := c.quota
	if int64(c.asking) != reserving {
		return fmt.Errorf("class %s: %d are being reserved for, %d are counted", c.Name, reserving, c.asking)
	}
	if q == nil {
		if c.Ready() != c.Waiting() {
			return fmt.Errorf("class %s has no quota, and %d of %d are ready", c.Name, c.Ready(), c.Waiting())
		}
		return nil
	}
	if it := q.dry; it != nil && (it.State != pool.Waiting || it.Class != c.index) {
		return fmt.Errorf("class %s waits for one that is %v", c.Name, it.State)
	}
	dry := 0
	for i, t := range q.thirst {
		if !t.Dry() || t.Budgets.Index != i || t.Budgets.Head.State != pool.Waiting || t.Budgets.Head.Tenant != t {
			return fmt.Errorf("class %s: tenant %q is dry: %v, for one that is %v", c.Name, t.Name, t.Dry(), t.Budgets.Head.State)
		}
		dry += t.Waiting()
	}
	if c.Ready()+dry != c.Waiting() {
		return fmt.Errorf("class %s: %d ready, %d of dry tenants, %d waiting", c.Name, c.Ready(), dry, c.Waiting())
	}
	return nil
}

// isQuota reports whether a reason is a budget's.
func isQuota(why reason.Reason) bool {
	return why == reason.QuotaRequests || why == reason.QuotaTokens || why == reason.QuotaConcurrency
}
