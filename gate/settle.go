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

// quiet reports that an event after which the machine is due at the instant next
// has nothing to be carried out. It is what nearly every event of a service within
// its capacity finds.
func (g *Gate) quiet(next unit.Instant) bool {
	return len(g.out.List) == 0 && g.armed <= next && !g.watched
}

// settle ends an event that has no more to it: what the machine decided is
// carried out, and mu given back.
func (g *Gate) settle(now unit.Instant, kind boundary.EventKind, t boundary.Ticket) {
	if g.quiet(g.machine.Next()) {
		g.mu.Unlock()
		return
	}
	g.carryOut(boundary.Event{At: now, Kind: kind, Ticket: t})
	g.unlock()
}

// settleAs is settle for an event that says more of itself.
func (g *Gate) settleAs(e boundary.Event) {
	g.carryOut(e)
	g.unlock()
}

// carryOut shows the event to the tap, executes its effects in order and arms
// the timer.
func (g *Gate) carryOut(e boundary.Event) {
	if g.tap != nil {
		e.Effects = g.out.List
		g.tap(e)
	}
	if len(g.out.Cases) > 0 {
		g.explainOthers()
	}
	for _, f := range g.out.List {
		switch f.Kind {
		case boundary.Run, boundary.Refuse:
			g.tell(f)
		case boundary.Overdue:
			if s := g.stand(f.Ticket); s.onOverdue != nil {
				g.late = append(g.late, call{s.onOverdue, g.refusal(f.Class, f.Reason, f.RetryAfter)})
			}
		case boundary.Reserve:
			g.toReserve(f.Ticket, f.Class, e.At)
		case boundary.Released:
			g.released[f.Ticket] = struct{}{}
		}
	}
	g.out.Reset()
	if next := g.machine.Next(); next < g.armed {
		g.arm(e.At, next)
	}
	if g.emptied != nil {
		g.checkEmptied()
	}
}

// unlock gives mu back and then tells the overdue, whose code may take its
// time, and call the gate.
func (g *Gate) unlock() {
	late, asks := g.late, g.asks
	g.late, g.asks = nil, nil
	g.mu.Unlock()
	if asks != nil {
		g.reserveAll(asks)
	}
	for _, c := range late {
		c.f(c.r)
	}
}

// tell sends a decision to the waiter it is about. Who runs keeps the seat if
// it wants to be told of its deadline.
func (g *Gate) tell(e boundary.Effect) {
	s := g.stand(e.Ticket)
	if s.waiter == nil {
		return
	}
	s.waiter.decision <- e
	if e.Kind == boundary.Run && s.onOverdue != nil {
		g.sit(seat{ticket: e.Ticket, onOverdue: s.onOverdue, id: s.id})
	}
}

// toReserve has a request reserved for, once mu is free.
func (g *Gate) toReserve(t boundary.Ticket, class int, now unit.Instant) {
	i := t.Index()
	if i >= len(g.seats) || g.seats[i].ticket != t || g.seats[i].waiter == nil {
		return // its caller is about to leave, and nobody is to be given anything
	}
	w := g.seats[i].waiter
	w.res = g.newReservation(t, class, now) // another each time: of the one before nothing is left
	g.asks = append(g.asks, w.res)
}

// sit notes what is to be kept of a request.
func (g *Gate) sit(s seat) {
	for s.ticket.Index() >= len(g.seats) {
		g.seats = append(g.seats, seat{})
	}
	g.seats[s.ticket.Index()] = s
}

// stand returns the seat of the request with that ticket and clears it. The
// place may be another's by now; that one stays seated.
func (g *Gate) stand(t boundary.Ticket) seat {
	if t.Index() >= len(g.seats) || g.seats[t.Index()].ticket != t {
		return seat{}
	}
	s := g.seats[t.Index()]
	g.seats[t.Index()] = seat{}
	return s
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
	if g.armed == closed {
		g.mu.Unlock()
		return
	}
	g.armed = unit.Never
	g.machine.Advance(now, &g.out)
	g.settle(now, boundary.Advanced, 0)
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
	g.watched = g.tap != nil
}
