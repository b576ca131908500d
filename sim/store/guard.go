package store

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// guard is a boundary in front of a copy.
type guard struct {
	machine  *boundary.Machine
	out      boundary.Effects
	byTicket []int32
	wake     unit.Instant
	life     uint32
	index    int32
}

// guardBudget is what a lookup may take in all, wait included, as a store of this
// speed would be configured.
const guardBudget = 50 * time.Millisecond

func newGuard(slots int, index uint64) (*guard, error) {
	m, err := boundary.New(boundary.Config{Name: "store", Seed: index, Strict: true, Classes: []boundary.Class{{
		Name: "lookups", Pool: pool.Config{Slots: slots, Latency: guardBudget},
	}}})
	if err != nil {
		return nil, fmt.Errorf("guard of the store: %w", err)
	}
	return &guard{machine: m, wake: unit.Never, index: int32(index) - 1}, nil
}

// offer brings a lookup to its copy's guard.
func (r *Run) offer(what int32, l *lookup) {
	g := r.copies[l.Copy].guard
	q := boundary.Request{Cost: 1}
	if r.Travels && l.Limit != unit.Never {
		q.Deadline = l.Limit
	}
	g.out.Reset()
	v := g.machine.Offer(r.now, &q, &g.out)
	r.carryOut(g)
	l.ticket = v.Ticket
	if v.Ticket != 0 {
		for v.Ticket.Index() >= len(g.byTicket) {
			g.byTicket = append(g.byTicket, -1)
		}
		g.byTicket[v.Ticket.Index()] = what
	}
	switch v.Kind {
	case boundary.Run:
		r.start(what, l)
	case boundary.Wait:
		r.wait(+1)
	case boundary.Refuse:
		r.turn(what, l, v.RetryAfter)
	}
	r.arm(g)
}

// turn has the caller told, after this event, that it was turned away.
func (r *Run) turn(what int32, l *lookup, after time.Duration) {
	l.place, l.after = atDoor, after
	r.heap.Push(r.now, turned, what, l.life)
}

// carryOut does what a guard's machine says.
func (r *Run) carryOut(g *guard) {
	for _, f := range g.out.List {
		what := g.byTicket[f.Ticket.Index()]
		l := &r.lookups[what]
		switch f.Kind {
		case boundary.Run:
			r.wait(-1)
			r.start(what, l)
		case boundary.Refuse:
			r.wait(-1)
			r.turn(what, l, f.RetryAfter)
		}
	}
}

// leave tells a guard that a lookup's slot is free.
func (r *Run) leave(c *replica, was where, fate Fate, ticket boundary.Ticket) {
	if was != inSlot {
		return
	}
	g := c.guard
	why := reason.Served
	if fate == Stopped {
		why = reason.Timeout
	}
	g.out.Reset()
	g.machine.Done(r.now, ticket, boundary.Outcome{Reason: why}, &g.out)
	r.carryOut(g)
	r.arm(g)
}

// woken lets a guard do what is due.
func (r *Run) woken(e event) {
	g := r.copies[e.What].guard
	if g.life != e.Life {
		return
	}
	g.wake = unit.Never
	g.out.Reset()
	g.machine.Advance(r.now, &g.out)
	r.carryOut(g)
	r.arm(g)
}

// arm wakes a guard when it next has something to do.
func (r *Run) arm(g *guard) {
	if next := g.machine.Next(); next != g.wake {
		g.life++
		if g.wake = next; next != unit.Never {
			r.heap.Push(max(next, r.now), wakes, g.index, g.life)
		}
	}
}
