package boundary

import (
	"fmt"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Drain refuses whatever is offered from now on. What waits and runs goes on.
func (m *Machine) Drain(now unit.Instant, out *Effects) {
	if m.casts() {
		m.shadow.drained(now, out)
		return
	}
	m.advance(now, out)
	m.draining = true
}

// Reconfigure applies another configuration to the running machine, whole or
// not at all. Classes are known by name and keep their index, their waiters,
// their accounts and what was measured; new ones are appended; one that is no
// longer there takes in nothing, drains and then gives its slots back, but its
// account stays, and it is the same class again if it comes back. A lowered
// figure cancels nothing.
//
// While a removed class drains it keeps its slots beside those of the others, so
// that a class which was renamed may run twice its work for as long as the old
// one's lasts.
func (m *Machine) Reconfigure(now unit.Instant, cfg Config, out *Effects) error {
	if m.casts() {
		return m.shadow.reconfigured(now, cfg, out)
	}
	if err := m.Accepts(cfg); err != nil {
		return err
	}
	now = m.advance(now, out)
	wanted := make(map[string]Class, len(cfg.Classes))
	for _, c := range cfg.Classes {
		wanted[c.Name] = c
	}
	for _, c := range m.classes {
		c.book()
		cl, ok := wanted[c.Name]
		c.closed = !ok
		if !ok {
			m.retire(c)
			continue
		}
		delete(wanted, c.Name)
		anew := fmt.Sprint(c.Quotas) != fmt.Sprint(cl.Quotas) // maps are printed in order
		if anew {
			m.loosenAll(c)
		}
		c.Class, c.rule = cl.WithDefaults(), cl.Pool.WhenFull
		c.Reconfigure(cl.pool())
		c.relaw(m.seed)
		if anew {
			m.requota(now, c)
		}
	}
	for _, cl := range cfg.Classes {
		if _, ok := wanted[cl.Name]; ok {
			m.open(cl)
		}
	}
	m.line(cfg)
	m.adapt(&cfg)
	m.relimit()
	m.limitClients(&cfg)
	m.cast()
	for _, c := range m.classes {
		m.admitBlocked(c, out)
	}
	m.weighAll()
	m.dispatch(now, out)
	return nil
}

// Accepts returns why Reconfigure would not take the configuration, or nil. It
// changes nothing.
func (m *Machine) Accepts(cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return fmt.Errorf("reconfigure %s: %w", m.name, err)
	}
	all := len(m.classes)
	for i := range cfg.Classes {
		if m.byName[cfg.Classes[i].Name] == nil {
			all++
		}
	}
	if all > ClassesMax {
		return fmt.Errorf("reconfigure %s: %d classes since the start, removed ones included; at most %d: restart", m.name, all, ClassesMax)
	}
	return nil
}

// line puts the classes in the order in which they come for free slots: the
// configuration's, then those that drain.
func (m *Machine) line(cfg Config) {
	m.order = m.order[:0]
	for i := range cfg.Classes {
		m.order = append(m.order, m.byName[cfg.Classes[i].Name])
	}
	for _, c := range m.classes {
		if c.closed {
			m.order = append(m.order, c)
		}
	}
}

// ClassIndex returns the index of the class of that name, or -1.
func (m *Machine) ClassIndex(name string) int {
	if c := m.byName[name]; c != nil && !c.closed {
		return c.index
	}
	return -1
}
