package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A class that sheds owns a law (policy/shed). It is asked about every request that
// would otherwise be let in, may wait or is refused for want of room, and sees in
// those what is demanded; so nothing is refused by rote in such a class.

// relaw gives the class the law that its configuration asks for, or has it follow
// the new one.
func (c *class) relaw(seed uint64) {
	switch {
	case c.Shed == nil:
		c.law = nil
	case c.law == nil:
		rule := *c.Shed
		rule.Seed ^= seed
		c.law = shed.New(rule)
	default:
		c.law.Reconfigure(*c.Shed)
	}
}

// sheds reports whether the class's law has the request answered with less.
func (m *Machine) sheds(now unit.Instant, c *class, r *Request) bool {
	if c.law.Due(now) {
		c.law.Look(now, m.load(c))
	}
	ask := r.ask()
	return c.law.Sheds(now, &ask)
}

// ask is what a law wants to know of the request.
func (r *Request) ask() shed.Ask {
	return shed.Ask{Gap: r.Gap, Kept: r.Kept, Session: r.Session, Stretch: r.Stretch}
}

// load is what a law wants to know of the class. What it may wait is what its
// budget allows, or, where it has none, its deadline, and no more than its room
// holds or is let in for its deadline's sake: where the law left the queue that long,
// feasibility would choose who is answered with less, whoever comes.
func (m *Machine) load(c *class) shed.Load {
	holding := c.Holding()
	allowed := c.AllowedWait()
	if c.Config().Latency <= 0 {
		allowed = max(c.Deadline-holding, 0)
	}
	if c.judges() {
		allowed = min(allowed, max(c.Deadline-c.NeededToWait(), 0))
	}
	if each := c.Interval(); each > 0 && time.Duration(c.Bound()) < allowed/each {
		allowed = time.Duration(c.Bound()) * each
	}
	return shed.Load{
		Slots:       min(c.Most(), max(c.Own(), c.Used()+m.limit-m.used)),
		Holding:     holding,
		Waiting:     c.Waiting() + c.Blocked(),
		AllowedWait: allowed,
	}
}

// explainShed says what the law found, and what would have had it serve the request
// in full.
func (c *class) explainShed(now unit.Instant, r *Request, x *Case) {
	if c.law == nil {
		return
	}
	ask := r.ask()
	x.Gap, x.Kept, x.Shed = r.Gap, r.Kept, c.law.State()
	least, slots := c.law.Would(now, &ask)
	if least <= shed.Useless && !r.Kept {
		x.Instead.Gap = least
	}
	if slots > c.Own() && slots <= SlotsMax {
		x.Instead.Slots = slots
	}
}
