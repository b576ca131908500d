package boundary

import (
	"math/bits"
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A refused caller is told when to come back by a virtual calendar: each
// refusal gets the next free instant of what refused it, and no two get the
// same. Under a lasting overload the hints grow, and when it ends time catches
// up with the calendar by itself.
//
//	at      = max(calendar, now) + step
//	step    = 3 x holding time / slots             for the room
//	        = that x sum of weights / weight       for a tenant's own bound
//	hint    = at - now, up to a half later
//	        = uniform in [max/2, max]              once the calendar is full
//
// Two of three slots are left to those who come for the first time. Were all
// promised to those who come again, clients that obey to the second would still
// offer twice what can be served: who is served comes back with new work at the
// rate of service, and as many come back as they were told. With one slot in
// three promised it settles at 1 + 1/3 of capacity. The random half keeps those
// apart who were refused at the same place by several gateways.

// promised: one slot in so many is promised to those who were refused.
const promised = 3

// stepUnknown separates hints while no holding time is known.
const stepUnknown = 100 * time.Millisecond

// turnAway enters the answer of a request of t into the accounts that is refused
// for the given reason, and returns when it should come back.
func (m *Machine) turnAway(now unit.Instant, c *class, t *pool.Tenant, why reason.Reason) time.Duration {
	c.tally.Answered[why]++
	t.Tally.Answered[why]++
	calendar, step := m.calendar(c, t, why)
	at := max(*calendar, now).Add(step)
	hint := time.Duration(at - now) // of two that are not negative
	if hint > c.RetryAfterMax {
		hint = c.RetryAfterMax / 2
		hint += m.jitter(hint)
	} else {
		*calendar = at
		hint = min(hint+m.jitter(hint/2), c.RetryAfterMax)
	}
	c.Settle(t)
	return hint
}

// calendar returns the calendar of what refuses t for the given reason, and its
// step.
func (m *Machine) calendar(c *class, t *pool.Tenant, why reason.Reason) (*unit.Instant, time.Duration) {
	step := promised * c.Interval()
	if step <= 0 {
		step = stepUnknown
	}
	switch why {
	case reason.TenantFull:
		return &t.Calendar, c.Stretch(t, step)
	case reason.Operator:
		return &c.byHand.calendar, step
	}
	return &c.calendar, step
}

// jitter returns a duration from 0 to most, which is not negative: what
// chance.Below draws, without its questions.
func (m *Machine) jitter(most time.Duration) time.Duration {
	draw, _ := bits.Mul64(m.chance.Uint64(), uint64(most)+1)
	return time.Duration(draw)
}
