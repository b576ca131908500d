package boundary

import (
	"github.com/spillway-dev/spillway/policy/unit"
)

// Press tells how near whoever does the work is to what he may have of memory,
// processor and the like: 1 is there; below 0, or no number, where it is not known.
// A driver tells about once a second. The resource's limit, fixed or found, gives way
// as limit.Pressure has it: what is held stays held, the next comes when there is a
// slot under the lowered limit, and each class keeps a part of it in proportion to
// what it is guaranteed. What is not told for limit.PressureHeld is forgotten.
func (m *Machine) Press(now unit.Instant, level float64, out *Effects) {
	if m.casts() {
		m.shadow.pressed(now, level, out)
		return
	}
	now = m.advance(now, out)
	m.pressure.Told(now, level)
	m.yield(now, out)
}

// lapse forgets what has not been told for too long.
func (m *Machine) lapse(now unit.Instant, out *Effects) {
	m.changes++
	m.pressure.Lapse()
	m.yield(now, out)
}

// yield has the slots follow the pressure.
func (m *Machine) yield(now unit.Instant, out *Effects) {
	m.lapses = m.pressure.Lapses()
	m.relimit()
	for _, c := range m.classes {
		m.admitBlocked(c, out)
	}
	m.weighAll()
	m.dispatch(now, out)
}

// nextDue returns when something happens by itself.
func (m *Machine) nextDue() unit.Instant { return min(m.due.Next(), m.lapses) }

// squeeze shares out what pressure leaves of slots that are fixed, sum in all: to each
// class a part in proportion to its own, one at least; what is left over goes by the
// configuration's order. What others leave idle it may borrow as before.
func (m *Machine) squeeze(sum int) {
	m.squeezed = m.limit < sum
	if !m.squeezed {
		return
	}
	left := m.limit
	for _, c := range m.classes {
		left -= c.Own() * m.limit / sum
	}
	for _, c := range m.order {
		slots, most := c.Own(), c.Most()
		own := slots * m.limit / sum
		if left > 0 && own < slots {
			own++
			left--
		}
		own = min(max(own, 1), slots)
		c.Allot(own, most-own)
	}
}

// unsqueeze gives the classes what is configured again.
func (m *Machine) unsqueeze() {
	if !m.squeezed {
		return
	}
	m.squeezed = false
	for _, c := range m.classes {
		if c.Unallot(); c.drained() {
			c.Resize(0, 0)
		}
	}
}
