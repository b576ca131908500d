package sim

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
)

// resource is a Resource in play.
type resource struct {
	*Resource
	run      *run
	index    int
	machine  *boundary.Machine
	upstream upstream
	out      boundary.Effects
	request  boundary.Request
	byTicket []int32 // attempt by Ticket.Index
	result   ResourceResult
	idle     idleSums

	slots         int // of all classes
	waiting, held int // in the boundary, and integrated until
	since         unit.Instant
}

func (r *run) openResource(cfg *Resource, asked map[string]bool) error {
	res := &resource{Resource: cfg, run: r, index: len(r.resources), upstream: upstream{Upstream: cfg.Upstream}}
	res.result.Name = cfg.Boundary.Name
	res.upstream.open(r.Seed)
	if !r.Unprotected {
		m, err := boundary.New(cfg.Boundary)
		if err != nil {
			return err
		}
		res.machine = m
		r.machines = append(r.machines, m)
	}
	for i := range cfg.Boundary.Classes {
		cl := cfg.Boundary.Classes[i].WithDefaults()
		c := &class{name: cl.Name, index: i, resource: res, cfg: cl, service: cfg.Upstream.Service}
		if asked[c.name] {
			c.asked = 1 // which of them is said when all are open
		}
		if i < len(cfg.Calls) {
			c.call = cfg.Calls[i]
		}
		var err error
		if c.dependency, err = dependencyOf(c.call.Policy, r.Seed); err != nil {
			return fmt.Errorf("class %s: %w", c.name, err)
		}
		r.classes = append(r.classes, c)
		r.byName[cl.Name] = c
	}
	for _, c := range cfg.Upstream.Capacity {
		r.heap.Push(unit.Instant(c.At), swells, int32(res.index), 0)
	}
	r.resources = append(r.resources, res)
	r.describe(res)
	return nil
}

// offer brings an attempt to the boundary.
func (r *run) offer(what int32, a *attempt) {
	now, st := r.now, r.streams[a.stream]
	a.arrived, a.unsent = now, false
	r.callers++
	a.tally = r.tally(a)
	if a.counted = r.counts(now); a.counted {
		a.tally.Offered(int64(now) - int64(r.WarmUp))
		st.result.Attempts++
	}
	if r.Unprotected {
		r.sendStraight(what, a)
		return
	}
	r.present(what, a)
}

// offerRung brings an attempt to the boundary of the resource that is asked instead.
func (r *run) offerRung(what int32, b *attempt) {
	b.unsent = false
	r.present(what, b)
}

// present has the boundary decide about an attempt.
func (r *run) present(what int32, a *attempt) {
	now, res, st := r.now, a.class.resource, r.streams[a.stream]
	q := &res.request
	*q = boundary.Request{
		Class: a.class.index, Tenant: r.Names.Tenants.String(a.tenant), Importance: int(a.level),
		Cost: unit.Cost(a.cost), Bytes: a.bytes, Session: a.session,
	}
	q.Retry, q.Client = a.try > 0, r.client(q.Tenant)
	if len(a.class.cfg.Quotas) > 0 {
		q.Ask = r.asks(a)
	} else {
		q.Ask = nil
	}
	q.Stretch, q.Gap, q.Kept = a.stretch, a.gap, r.kept(a)
	if a.allowed > 0 {
		q.Deadline = now.Add(a.allowed)
	}
	a.due, a.deadline = a.class.cfg.Due(now, q.Deadline), a.class.cfg.Governs(now, q.Deadline)
	res.out.Reset()
	v := res.machine.Offer(now, q, &res.out)
	if v.Deadline == unit.Never {
		a.ungoverned, a.deadline = true, a.due
	}
	res.show(boundary.Event{At: now, Kind: boundary.Offered, Class: q.Class, Tenant: q.Tenant, Ticket: v.Ticket, Verdict: v})
	res.carryOut() // first: the ticket's index may be that of one who goes now
	if v.Ticket != 0 {
		a.ticket = v.Ticket
		res.remember(v.Ticket, what)
	}
	switch v.Kind {
	case boundary.Refuse:
		r.answer(what, a, v.Reason, v.RetryAfter)
		return
	case boundary.Run:
		r.start(what, a)
	case boundary.Wait, boundary.Reserve:
		res.count(+1, 0)
		a.place = waiting
		if v.Kind == boundary.Reserve {
			res.toReserve(a, q.Class)
		}
	}
	if st.Callers.Patience > 0 && a.down == 0 {
		r.heap.Push(now.Add(st.Callers.Patience), callerLeaves, what, a.life)
	}
}

// start carries out a grant: the attempt's call goes to the upstream.
func (r *run) start(what int32, a *attempt) {
	res := a.class.resource
	if a.leaving { // its caller left as the grant was made, which Leave gives back
		a.place = running
		return
	}
	a.place, a.started = running, r.now
	res.count(0, +1)
	r.bookStart(a)
	if a.class.dependency != nil && !a.ungoverned {
		r.begin(what, a)
		return
	}
	if a.class.call.Timeout > 0 && !a.ungoverned {
		r.heap.Push(r.now.Add(a.class.call.Timeout), callTimesOut, what, a.life)
	}
	res.send(what, a, spread.None)
	if a.class.call.StartDeadline {
		// The machine is at this instant already, so that nothing else comes of it.
		var nothing boundary.Effects
		res.machine.Answered(r.now, a.ticket, &nothing)
		if res.Tap != nil {
			res.Tap(boundary.Event{At: r.now, Kind: boundary.Began, Class: a.class.index, Ticket: a.ticket})
		}
		a.deadline, a.due = unit.Never, unit.Never
	}
}

// wake lets the machine do what is due.
func (res *resource) wake(now unit.Instant) {
	res.out.Reset()
	res.machine.Advance(now, &res.out)
	res.show(boundary.Event{At: now, Kind: boundary.Advanced})
	res.carryOut()
}

func (res *resource) drain(now unit.Instant) {
	res.out.Reset()
	res.machine.Drain(now, &res.out)
	res.show(boundary.Event{At: now, Kind: boundary.Drained})
	res.carryOut()
}

func (res *resource) reconfigure(now unit.Instant, cfg boundary.Config) {
	res.out.Reset()
	if err := res.machine.Reconfigure(now, cfg, &res.out); err != nil {
		res.run.fail(fmt.Errorf("change at %v: %w", now, err))
		return
	}
	res.count(0, 0)
	res.slots = 0
	for _, cl := range cfg.Classes {
		c := res.run.byName[cl.Name]
		c.cfg = cl.WithDefaults()
		res.slots += cl.Pool.Slots
		if c.asked == 0 {
			res.run.collector.Class(cl.Name).Slots(max(0, int64(now)-int64(res.run.WarmUp)), cl.Pool.Slots)
		}
	}
	res.show(boundary.Event{At: now, Kind: boundary.Reconfigured})
	res.carryOut()
}

// carryOut does what the latest event brought about for others. Nothing in here
// is an event itself: what follows at the same instant is put on the heap.
func (res *resource) carryOut() {
	r := res.run
	for i := range res.out.List {
		f := &res.out.List[i]
		what := res.byTicket[f.Ticket.Index()]
		a := r.attempts.at(what)
		if a.ticket != f.Ticket {
			panic(fmt.Sprintf("BUG: sim: effect %v is about another attempt, %v", f, a.ticket))
		}
		switch f.Kind {
		case boundary.Run:
			res.leave(a)
			r.start(what, a)
		case boundary.Refuse:
			res.leave(a)
			r.answer(what, a, f.Reason, f.RetryAfter)
		case boundary.Overdue:
			r.abandon(what, a, f.Reason, f.RetryAfter)
			if a.calling != 0 {
				r.heap.Push(r.now, callTimesOut, what, a.life) // its call gives up at this very instant
			} else if res.upstream.NoticesCancel || res.upstream.KeepsDeadline && a.class.call.PassDeadline {
				res.stop(what, a, f.Reason)
			}
		case boundary.Reserve:
			res.toReserve(a, f.Class)
		case boundary.Released:
			a.voided, a.place = true, outside
			res.release(a)
		}
	}
}

// leave takes out of the room who waits, or gives back the slot of who is being
// reserved for.
func (res *resource) leave(a *attempt) {
	switch a.place {
	case waiting:
		res.count(-1, 0)
	case reserving:
		res.count(0, -1)
	}
	a.place = outside
}

// show shows an event, with its effects, to whoever watches.
func (res *resource) show(e boundary.Event) {
	if res.Tap != nil {
		e.Effects = res.out.List
		res.Tap(e)
	}
}

func (res *resource) remember(t boundary.Ticket, what int32) {
	for t.Index() >= len(res.byTicket) {
		res.byTicket = append(res.byTicket, -1)
	}
	res.byTicket[t.Index()] = what
}

// release books a slot that is free again.
func (res *resource) release(a *attempt) {
	res.count(0, -1)
	res.run.bookHeld(a)
}

// count books changes in the numbers that wait and hold a slot, and what they
// were until now.
func (res *resource) count(waiting, held int) {
	now := res.run.now
	if d := time.Duration(now - res.since); d > 0 {
		res.result.WaitedFor += d * time.Duration(res.waiting)
		res.result.HeldFor += d * time.Duration(res.held)
		res.since = now
	}
	res.waiting += waiting
	res.held += held
}
