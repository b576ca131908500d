package boundary

import (
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A limit that adapts belongs to the resource: one control loop, whatever number of
// classes there are. What it finds is shared out:
//
//	guaranteed   each class's Floor, and of the rest a part in proportion to how
//	             far its Slots exceed its Floor
//	borrowed     what is idle of the others' guarantees, up to the class's Slots
//	             (and its Borrow, which is then nothing else)
//
// So a class that alone has work may have all that the resource can do, and gives it
// back, call by call, to whom it is guaranteed.

// limits returns how the resource's limit is found: between the sums of what its
// classes must and may have.
func (cfg *Config) limits() limit.Config {
	l := cfg.Limit
	least, most := 0, 0
	for i := range cfg.Classes {
		c := &cfg.Classes[i]
		least += c.least()
		most += c.most()
	}
	l.Floor = max(l.Floor, least)
	if l.Ceiling <= 0 {
		l.Ceiling = most
	}
	l.Ceiling = max(min(l.Ceiling, most), l.Floor)
	if l.Law == limit.Constant {
		return limit.Config{}
	}
	return l.WithDefaults()
}

// least is what a class is guaranteed however low the limit is. Nobody has nothing,
// or he would wait for those who always have work.
func (c *Class) least() int { return max(c.Floor, 1) }

// most is what it may hold at best.
func (c *Class) most() int { return c.Pool.Slots + c.Pool.Borrow }

// adapt gives the machine the limiter of its configuration, with all that the one
// before it has learned.
func (m *Machine) adapt(cfg *Config) {
	l := cfg.limits()
	switch {
	case l.Law == limit.Constant:
		m.limiter = nil
		for _, c := range m.classes {
			if c.Unallot(); c.ebbs() {
				m.retire(c)
			}
		}
	case m.limiter == nil:
		m.limiter = limit.New(l)
	case l != m.limits:
		learned := m.limiter.Export()
		m.limiter = limit.New(l)
		m.limiter.Import(learned)
	}
	m.limits = l
}

// learn shows the limiter a call that has answered, or has failed to. Whoever calls
// it hands out the slots that may come of it.
func (m *Machine) learn(now unit.Instant, it *pool.Item, why reason.Reason) {
	if m.limiter == nil {
		return
	}
	m.limiter.Ended(now, limit.Sample{Held: now.Sub(it.Started), Running: m.used, Route: it.Class, Outcome: why})
	if m.pressure.Of(m.limiter.Limit()) != m.limit {
		m.share()
	}
}

// share shares the limit out.
func (m *Machine) share() {
	m.accrue() // under the limit that it had
	m.limit = m.pressure.Of(m.limiter.Limit())
	least, weights := 0, 0
	for _, c := range m.classes {
		if c.shares() {
			least += c.least()
			weights += c.most() - c.least()
		}
	}
	rest := max(m.limit-least, 0)
	left := rest
	for _, c := range m.classes {
		if weights > 0 && c.shares() {
			left -= rest * (c.most() - c.least()) / weights
		}
	}
	for _, c := range m.order { // what does not come out even goes by the configuration's order
		if !c.shares() {
			c.Allot(0, 0)
			continue
		}
		own := c.least()
		if more := c.most() - own; more > 0 {
			own += rest * more / weights
			if left > 0 {
				own++
				left--
			}
		}
		own = min(own, c.most())
		c.Allot(own, c.most()-own)
	}
}

// shares reports whether the class has a part in the limit.
func (c *class) shares() bool {
	return !c.drained()
}

// exportLimit returns what the limiter has learned, if there is one.
func (m *Machine) exportLimit() *limit.Measured {
	if m.limiter == nil {
		return nil
	}
	learned := m.limiter.Export()
	return &learned
}

// importLimit takes over what another one has learned.
func (m *Machine) importLimit(learned *limit.Measured) {
	if m.limiter != nil && learned != nil {
		m.limiter.Import(*learned)
		m.share()
	}
}

// Limit returns what there is to see of the resource's limit.
func (m *Machine) Limit() limit.State {
	s := limit.Fixed(m.limit).State()
	if m.limiter != nil {
		s = m.limiter.State()
	}
	if s.GivenWay = m.pressure.Given(); s.GivenWay > 0 {
		s.Limit, s.Doing = m.limit, "giving way to pressure"
	}
	return s
}
