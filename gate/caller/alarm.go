package caller

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// alarm is the one timer of a call with a hedge armed. It outlives the call in a pool;
// one that rings late finds no call, or another's that is not due, and does nothing.
type alarm struct {
	caller *Caller
	timer  *time.Timer

	// Guarded by the caller's mu.
	of *contest
	at unit.Instant // when it rings; Never: it does not
}

func newAlarm(c *Caller) *alarm { return &alarm{caller: c, at: unit.Never} }

// set has it ring at next at the latest. One that rings before anything is due costs
// one look. The caller holds mu.
func (a *alarm) set(now, next unit.Instant) {
	if next >= a.at {
		return
	}
	a.at = next
	d := max(next.Sub(now), 0)
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.ring)
		return
	}
	a.timer.Reset(d)
}

// off silences it for good, and gives it back. The caller holds mu.
func (a *alarm) off() {
	if a.at != unit.Never {
		a.timer.Stop()
	}
	a.of, a.at = nil, unit.Never
	a.caller.alarms.Put(a)
}

func (a *alarm) ring() {
	c := a.caller
	c.mu.Lock()
	x := a.of
	if x == nil {
		c.mu.Unlock()
		return
	}
	now := c.Now()
	a.at = unit.Never
	if now < x.call.next {
		a.set(now, x.call.next)
		c.mu.Unlock()
		return
	}
	todo := x.take(now, x.call.noted(c.dependency.Passed(now, &x.call.state)))
	c.mu.Unlock()
	x.carryOut(&todo)
}
