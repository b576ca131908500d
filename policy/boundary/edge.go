package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// What one client asks is looked at before the class's room is: whoever asks
// too much is told so whatever the room has left, and takes no place from
// others. What is let in here is taken out of the client's bucket even if the
// room then has no place for it.

// edge applies the client limits to an offer. It reports whether the request
// ends here.
func (m *Machine) edge(now unit.Instant, r *Request, out *Effects) (Verdict, bool) {
	c := m.classes[r.Class]
	if m.clients == nil || c.closed || m.draining {
		return Verdict{}, false
	}
	now = m.reach(now, out)
	rule, key := m.budget(c, r.Client)
	v := m.clients.Ask(now, key, rule, c.RetryAfterMax)
	if !v.Refused {
		return Verdict{}, false
	}
	if v.Busy { // one of its own must end first: when, is known on average
		v.After = c.Holding()
		if v.After <= 0 {
			v.After = stepUnknown
		}
		v.After += time.Duration(m.chance.Below(int64(v.After)/2 + 1))
		v.After = min(v.After, c.RetryAfterMax)
	}
	m.bar(c, r, reason.RateLimited)
	return Verdict{Decision: Decision{Refuse, reason.RateLimited}, RetryAfter: v.After}, true
}

// budget returns the rule that applies to a client in a class, and its key in
// the budget that the rule is about: the class's own or the resource's.
func (m *Machine) budget(c *class, client rate.Key) (*rate.Rule, rate.Key) {
	if c.Clients != nil {
		return c.Clients, client.In(c.budget)
	}
	return &m.rule, client
}

// barred answers an offer that its driver refuses. It is on the account like any
// other; it is carried out in every mode, and promises nothing of the room's.
func (m *Machine) barred(now unit.Instant, r *Request, out *Effects) Verdict {
	if m.casts() {
		m.shadow.enter(now, out)
		defer m.shadow.leave()
	} else {
		m.reach(now, out)
	}
	m.bar(m.classes[r.Class], r, r.Refuse)
	return Verdict{Decision: Decision{Refuse, r.Refuse}}
}

// bar enters a request into the accounts that is refused before its class is
// asked.
func (m *Machine) bar(c *class, r *Request, why reason.Reason) {
	t := c.Get(r.Tenant)
	c.tally.Offered++
	t.Tally.Offered++
	c.tally.Answered[why]++
	t.Tally.Answered[why]++
	c.Settle(t)
}

// hold notes that a request of a limited client is under way.
func (m *Machine) hold(c *class, it *pool.Item, client rate.Key) {
	if m.clients == nil {
		return
	}
	if rule, key := m.budget(c, client); rule.Concurrent > 0 && m.clients.Hold(key) {
		it.Client = uint64(key)
	}
}

// release takes that back.
func (m *Machine) release(it *pool.Item) {
	if m.clients != nil {
		m.clients.Release(rate.Key(it.Client))
	}
	it.Client = 0
}

// limitClients takes in the rules of a configuration. Buckets stay what they
// are while any rule is left.
func (m *Machine) limitClients(cfg *Config) {
	m.rule = cfg.Clients
	needed := !m.rule.IsZero()
	for i := range cfg.Classes {
		rule := cfg.Classes[i].Clients
		needed = needed || rule != nil && !rule.IsZero()
	}
	switch {
	case !needed:
		m.clients = nil
	case m.clients == nil:
		m.clients = rate.NewTable(cfg.ClientsKept)
	default:
		m.clients.Resize(cfg.ClientsKept)
	}
}

// ClientsForgotten returns how many clients were forgotten before their bucket
// was full; see rate.Table.Early.
func (m *Machine) ClientsForgotten() int64 {
	if m.clients == nil {
		return 0
	}
	return m.clients.Early()
}
