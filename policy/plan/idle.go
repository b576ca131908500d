package plan

import (
	"fmt"
	"math"
)

// warnIdle warns of a class that turns requests away while slots of other classes of
// its upstream stand idle at the rates that are expected of them, and that may not
// borrow those. A class of which no rate is expected may need all that it has.
func (m *maker) warnIdle(c *class) {
	if c.up == nil || c.limitedBy != "slots" {
		return
	}
	var idle int64
	for _, other := range c.up.classes {
		if other == c || !(other.Expect.Rate > 0) || other.holding <= 0 {
			continue
		}
		busy := whole(math.Ceil(InSystem(other.Expect.Rate, other.holding)))
		idle += min(max(0, other.slots-busy), math.MaxInt64-idle)
	}
	if c.up.Slots > 0 {
		idle = min(idle, max(0, c.up.Slots-c.slots))
	}
	useful := min(idle, SlotsFor(c.Expect.Rate, c.holding)-c.slots)
	if useful <= max(0, c.Borrow) {
		return
	}
	m.warn(c, c.where(), fmt.Sprintf("may borrow %s while about %s of other classes of %s stand idle at the rates expected of them; "+
		"set borrow to %s, which each takes back as soon as it needs them", count(max(0, c.Borrow)), plural(idle, "slot"), c.up.Name, count(useful)))
}
