package boundary

import (
	"fmt"
	"math"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Idle while refusing is what keeping slots apart costs. A class is short when it
// holds all the slots that it may, borrowed ones included, and somebody of it waits
// or is blocked, or was refused for want of a slot since it last had one free.
// Every slot of its resource that is idle meanwhile is one that it may not use, and
// how long it is so adds up: in slots times time. A class that does not hold all
// that it may is not short, whatever it refuses.
//
// The sums are kept as the differences of one integral, which moves only while some
// class is short: when none is, a start or an end pays for it with a comparison.

// shortage is what is kept of it for a class.
type shortage struct {
	turned    bool // it has refused for want of a slot since it last had one free
	short     bool
	shortFrom uint64 // Machine.idled when it last became short
	idled     uint64 // idle slots x ns while it was, up to then
}

// wanted notes that the class refused a request for want of a slot, if it did.
func (m *Machine) wanted(c *class, why reason.Reason) {
	switch why {
	case reason.Draining, reason.Expired, reason.Operator:
		return // however many slots it had
	}
	if c.Used() >= c.Most() {
		c.turned = true
		m.weigh(c)
	}
}

// lacks reports whether somebody of the class wants a slot, and it may have no more.
func (c *class) lacks() bool {
	return c.Used() >= c.Most() && (c.turned || c.Waiting()+c.Blocked() > 0)
}

// weigh finds out whether the class is short. It follows whatever changes who waits,
// what the class holds, or what it may.
func (m *Machine) weigh(c *class) {
	short := c.lacks()
	switch {
	case short == c.short:
		return
	case short:
		m.accrue()
		m.short++
		c.shortFrom = m.idled
	default:
		m.accrue()
		m.short--
		c.turned = false
		c.idled += m.idled - c.shortFrom
	}
	c.short = short
}

// giveShort is give while some class is short.
func (m *Machine) giveShort(c *class) {
	m.accrue()
	c.Give()
	m.used--
	m.weigh(c)
}

// weighAll does it for every class, after their slots have changed.
func (m *Machine) weighAll() {
	for _, c := range m.classes {
		c.turned = c.turned && !c.closed
		m.weigh(c)
	}
}

// accrue brings the integral up to now. It comes before a change of what is held,
// or of the limit.
func (m *Machine) accrue() { m.idled, m.idledTo = m.idledBy(m.now), m.now }

// idledBy is what the integral will be at now if nothing happens until then.
func (m *Machine) idledBy(now unit.Instant) uint64 {
	if m.short == 0 || m.used >= m.limit || now <= m.idledTo {
		return m.idled
	}
	return m.idled + uint64(now-m.idledTo)*uint64(m.limit-m.used)
}

// IdleWhileRefusing is what ClassState.IdleWhileRefusing of class i will be at now if
// nothing happens until then.
func (m *Machine) IdleWhileRefusing(i int, now unit.Instant) time.Duration {
	c := m.classes[i]
	sum := c.idled
	if c.short {
		sum += m.idledBy(now) - c.shortFrom
	}
	return slotTime(sum)
}

// IdleWhileRefused is the same for the resource: the slots that were idle while any
// class was short of one, each counted once.
func (m *Machine) IdleWhileRefused(now unit.Instant) time.Duration { return slotTime(m.idledBy(now)) }

// slotTime is a sum as it is told: it stops at 292 years of one slot.
func slotTime(sum uint64) time.Duration { return time.Duration(min(sum, math.MaxInt64)) }

// checkShort returns what is wrong with who is taken to be short.
func (m *Machine) checkShort() error {
	short := 0
	for _, c := range m.classes {
		if c.short {
			short++
		}
		if c.short != c.lacks() {
			return fmt.Errorf("class %s: short of slots: %v, with %d of %d held and %d waiting", c.Name, c.short, c.Used(), c.Most(), c.Waiting()+c.Blocked())
		}
	}
	if short != m.short || m.idledTo > m.now {
		return fmt.Errorf("%d classes are short of slots and %d are counted, up to %v at %v", short, m.short, m.idledTo, m.now)
	}
	return nil
}
