package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Streams is what answers cost that go on for long. To begin, a request needs a
// slot, as any other. An answer that flows and keeps nobody busy but the wire
// may give its slot back and count here instead: a lighter hold, with a bound of
// its own. That is what the service is spared by it which decides whether this is
// right: an event stream or a caller who reads slowly costs it a connection, a
// model that generates costs it the whole slot to the last word.
//
// A stream is still running in every account. It ends as any work does.
type Streams struct {
	// Most is how many may flow without a slot; 0: none, every answer keeps
	// its slot to its end.
	Most int
	// PerTenant is how many of them one tenant may have. Zero or less: half of
	// Most, rounded up, so that nobody's slow readers take it all; the tenant ""
	// has all of them.
	PerTenant int
	// After makes a stream of every answer that has flowed for so long. Zero or
	// less: only of those that Linger is called for.
	After time.Duration
}

// perTenant returns how many streams a tenant may have.
func (s Streams) perTenant(name string) int {
	switch {
	case s.PerTenant > 0:
		return min(s.PerTenant, s.Most)
	case name == "":
		return s.Most
	}
	return (s.Most + 1) / 2
}

// Linger reports that an answer which has begun keeps only its caller busy: he
// reads more slowly than it could be sent. It gives its slot back if the class's
// Streams have room for it; if not it keeps the slot, and Linger may be called
// again later.
func (m *Machine) Linger(now unit.Instant, t Ticket, out *Effects) {
	if m.casts() {
		m.shadow.lingers(now, t, out)
		return
	}
	now = m.advance(now, out)
	if it := m.find(t); it != nil && it.State == pool.Running && it.Flowing && m.stream(now, it) {
		m.due.Strike(&it.Due)
		m.dispatch(now, out)
	}
}

// flows has an answer that has begun looked at when it has flowed for long enough.
func (m *Machine) flows(now unit.Instant, it *pool.Item) {
	if s := m.classes[it.Class].Streams; s.Most > 0 && s.After > 0 {
		m.due.Set(&it.Due, now.Add(s.After))
	}
}

// stream takes the slot from an answer that goes on without one, if there is room
// for that, and learns from what it held it for.
func (m *Machine) stream(now unit.Instant, it *pool.Item) bool {
	c := m.classes[it.Class]
	if c.streams >= c.Streams.Most || it.Tenant.Streams >= c.Streams.perTenant(it.Tenant.Name) {
		return false
	}
	c.streams++
	it.Tenant.Streams++
	it.State = pool.Streaming
	held := now.Sub(it.Started)
	c.Ended(held, false)
	if c.Config().Tenants.Timed {
		m.recost(c, it, timed(held))
	}
	m.give(c)
	return true
}

// unstream ends a stream.
func (m *Machine) unstream(it *pool.Item) {
	m.classes[it.Class].streams--
	it.Tenant.Streams--
}

// recost charges the tenant what its request really cost.
func (m *Machine) recost(c *class, it *pool.Item, cost unit.Cost) {
	c.Correct(it.Tenant, cost.Clamp()-it.Cost)
	it.Cost = cost.Clamp()
}
