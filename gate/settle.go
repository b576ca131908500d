package gate

import (
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/unit"
)

// call is an overdue caller to be told.
type call struct {
	f func(Refusal)
	r Refusal
}

// settle ends an event: it carries out what the machine decided, arms the
// timer, and gives the lock back.
func (g *Gate) settle(now unit.Instant, kind boundary.EventKind, class int, tenant string, t boundary.Ticket, v boundary.Verdict) {
	if g.tap != nil {
		g.tap(boundary.Event{At: now, Kind: kind, Class: class, Tenant: tenant, Ticket: t, Verdict: v, Effects: g.out.List})
	}
	if len(g.out.List) > 0 {
		g.carryOut()
	}
	if next := g.machine.Next(); next < g.armed {
		g.arm(now, next)
	}
	if g.emptied != nil {
		g.checkEmptied()
	}
	late := g.late
	g.late = nil
	g.mu.Unlock()
	for _, c := range late {
		c.f(c.r)
	}
}

// carryOut executes the effects in order.
func (g *Gate) carryOut() {
	for _, e := range g.out.List {
		switch e.Kind {
		case boundary.Run:
			g.tell(e, true)
		case boundary.Refuse:
			g.tell(e, false)
		case boundary.Overdue:
			if s := g.stand(e.Ticket); s.onOverdue != nil {
				g.late = append(g.late, call{s.onOverdue, g.refusal(e.Class, e.Reason, e.RetryAfter)})
			}
		case boundary.Released:
			g.released[e.Ticket] = struct{}{}
		}
	}
	g.out.Reset()
}

// tell sends a decision to the waiter it is about. Who runs keeps the seat if
// it wants to be told of its deadline.
func (g *Gate) tell(e boundary.Effect, runs bool) {
	s := g.stand(e.Ticket)
	if s.waiter == nil {
		return // left at this very event
	}
	s.waiter.decision <- e
	if runs && s.onOverdue != nil {
		g.sit(seat{ticket: e.Ticket, onOverdue: s.onOverdue})
	}
}

// arm sets the gate's one timer to the given instant. A timer that fires
// before anything is due (because what was due has been struck off) costs one
// look and is set again.
func (g *Gate) arm(now, at unit.Instant) {
	g.armed = at
	d := max(at.Sub(now), 0)
	if g.timer == nil {
		g.timer = time.AfterFunc(d, g.wake)
		return
	}
	g.timer.Reset(d)
}

// wake is the timer's event: time has passed.
func (g *Gate) wake() {
	now := g.Now()
	g.mu.Lock()
	g.armed = unit.Never
	g.machine.Advance(now, &g.out)
	g.settle(now, boundary.Advanced, 0, "", 0, boundary.Verdict{})
}

// checkEmptied closes emptied once nothing waits or runs.
func (g *Gate) checkEmptied() {
	select {
	case <-g.emptied:
		return
	default:
	}
	for i := range g.machine.Classes() {
		if t := g.machine.Class(i).Tally; t.Waiting+t.Running > 0 {
			return
		}
	}
	close(g.emptied)
}
