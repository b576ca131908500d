package caller

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// alarm is the one timer of a call with a hedge armed. It outlives the call in a pool;
// one that rings for a call that has ended finds none, or another that is not due, and
// does nothing.
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

// off takes the call from it, and gives it back. It is left to ring: under load that
// spares the next call, which is due later, setting it. The caller holds mu.
func (a *alarm) off() {
	a.of = nil
	a.caller.alarms.Put(a)
}

func (a *alarm) ring() {
	c := a.caller
	c.mu.Lock()
	x := a.of
	a.at = unit.Never
	if x == nil {
		c.mu.Unlock()
		return
	}
	now := c.Now()
	if next := x.call.step.Next; now < next {
		a.set(now, next)
		c.mu.Unlock()
		return
	}
	x.call.passed(now)
	todo := x.take(now)
	c.mu.Unlock()
	x.carryOut(&todo)
}
