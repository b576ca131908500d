package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A refused caller is told when to come back by a virtual calendar: each
// refusal gets the next free instant of what refused it, and no two get the
// same. The calendar advances by the time between two slots coming free, so
// that callers who obey come back as fast as they can be served; under a
// lasting overload the hints grow, and when it ends time catches up with the
// calendar by itself.
//
//	at      = max(calendar, now) + step
//	step    = holding time / slots                 for the room
//	        = that x sum of weights / weight       for a tenant's own bound
//	hint    = at - now, up to a quarter later
//	        = uniform in [max/2, max]              once the calendar is full
//
// The random quarter keeps those apart who were refused at the same place by
// several gateways.

// stepUnknown separates hints while no holding time is known.
const stepUnknown = 100 * time.Millisecond

// promise returns when a request of tenant t that is refused for the given
// reason should come back.
func (m *Machine) promise(now unit.Instant, c *class, t *pool.Tenant, why reason.Reason) time.Duration {
	calendar, step := &c.calendar, c.Interval()
	if step <= 0 {
		step = stepUnknown
	}
	if why == reason.TenantFull {
		calendar, step = &t.Calendar, c.Stretch(t, step)
	}
	at := max(*calendar, now).Add(step)
	hint := at.Sub(now)
	if hint > c.RetryAfterMax {
		half := c.RetryAfterMax / 2
		return half + time.Duration(m.chance.Below(int64(half)+1))
	}
	*calendar = at
	return min(hint+time.Duration(m.chance.Below(int64(hint)/4+1)), c.RetryAfterMax)
}
