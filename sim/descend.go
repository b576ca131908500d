package sim

import (
	"time"

	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
)

// A request that its class did not serve goes down the class's ladder, as
// policy/ladder says. What is in memory answers at once. A rung that is a resource
// is asked by an attempt of its own, without a caller, in an event of the same
// instant: the machine that has just refused may be amid another.

// rung is a Rung in play.
type rung struct {
	*Rung
	number  report.Rung
	earlier *earlier
	class   *class // that is asked
}

// descents are the requests that a resource is asked for, by number from 1 on.
type descents struct {
	all  []*descent
	free []int32
}

// descent is one of them.
type descent struct {
	ladder.Descent
	step       ladder.Step
	retryAfter time.Duration
	request    attempt // as it was when it was not served
}

func (ds *descents) at(i int32) *descent { return ds.all[i-1] }

func (ds *descents) take() int32 {
	if n := len(ds.free); n > 0 {
		i := ds.free[n-1]
		ds.free = ds.free[:n-1]
		return i
	}
	ds.all = append(ds.all, new(descent))
	return int32(len(ds.all))
}

// openLadders connects the classes of all resources with what their rungs ask.
func (r *run) openLadders() {
	if r.Unprotected {
		return
	}
	for _, res := range r.resources {
		for i := range res.Ladders {
			l, c := &res.Ladders[i], r.byName[res.Boundary.Classes[i].Name]
			c.order = l.Order
			for j := range l.Rungs {
				g := rung{Rung: &l.Rungs[j], number: r.collector.Rung(l.Order.Name(j))}
				if e := g.Earlier; e != nil {
					g.earlier = newEarlier(e, r.Seed, c.name)
				}
				if g.class = r.byName[g.Class]; g.class != nil {
					g.class.asked = int32(j) + 1
					if !g.Service.Traced() {
						g.class.service = g.Service
					}
				}
				c.rungs = append(c.rungs, g)
			}
		}
	}
}

// onlyAsked returns the names of the classes that are asked by rungs alone.
func (s *Scenario) onlyAsked() map[string]bool {
	asked := map[string]bool{}
	for i := range s.Resources {
		for _, l := range s.Resources[i].Ladders {
			for _, g := range l.Rungs {
				if g.Class != "" {
					asked[g.Class] = true
				}
			}
		}
	}
	return asked
}

// served notes what the primary has answered, for later.
func (c *class) served(a *attempt) {
	for i := range c.rungs {
		if e := c.rungs[i].earlier; e != nil {
			e.keep(a)
		}
	}
}

// kept reports whether the primary's own answer is there still for an attempt of a
// class that sheds.
func (r *run) kept(a *attempt) bool {
	c := a.class
	return c.cfg.Shed != nil && len(c.rungs) > 0 && c.rungs[0].earlier != nil && c.rungs[0].earlier.has(r.now, a)
}

// instead answers a request that was not served.
func (r *run) instead(a *attempt, why reason.Reason, retryAfter time.Duration) {
	if a.ungoverned {
		r.tell(a, report.NoRung, why, retryAfter)
		return
	}
	way, step := a.class.order.Descend(why, a.deadline.Sub(r.now))
	r.stepDown(a, way, step, retryAfter)
}

// stepDown does what a step says, and what follows from it.
func (r *run) stepDown(a *attempt, way ladder.Descent, step ladder.Step, retryAfter time.Duration) {
	for ; !step.Refused(); step = way.Missed(a.deadline.Sub(r.now)) {
		g := &a.class.rungs[step.Rung]
		switch {
		case g.class != nil:
			r.askRung(a, g, descent{Descent: way, step: step, retryAfter: retryAfter, request: *a})
			return
		case g.earlier == nil, g.earlier.has(r.now, a):
			r.tell(a, g.number, step.Reason, 0)
			return
		}
	}
	r.tell(a, report.NoRung, step.Reason, retryAfter)
}

// askRung has a resource asked for a request.
func (r *run) askRung(a *attempt, g *rung, d descent) {
	id := r.descents.take()
	*r.descents.at(id) = d
	what := r.attempts.take()
	b := r.attempts.at(what)
	b.class, b.down, b.unsent = g.class, id, true
	b.number, b.stream, b.try, b.scheduled, b.arrived = a.number, a.stream, a.try, a.scheduled, a.arrived
	b.tenant, b.level, b.session, b.cost, b.bytes, b.service = a.tenant, a.level, a.session, a.cost, a.bytes, a.service
	b.allowed = a.deadline.Sub(r.now)
	if a.asker != 0 { // who waits for it waits for that
		c := r.clients.at(a.asker)
		for i := range c.errands {
			if e := &c.errands[i]; e.attempt == uint16(a.try)+1 {
				e.place.What, e.place.Life = what, b.life
			}
		}
	}
	r.heap.Push(r.now, stepsDown, what, b.life)
	if patience := r.streams[a.stream].Callers.Patience; patience > 0 {
		r.heap.Push(max(r.now, a.arrived.Add(patience)), callerLeaves, what, b.life)
	}
}

// rungEnds takes in what came of a resource that was asked.
func (r *run) rungEnds(b *attempt, why reason.Reason) {
	d := *r.descents.at(b.down)
	r.descents.free = append(r.descents.free, b.down)
	a := &d.request
	left := a.deadline.Sub(r.now)
	switch {
	case why == reason.Served:
		r.tell(a, a.class.rungs[d.step.Rung].number, d.step.Reason, 0)
	case why == reason.CallerGone:
		r.tell(a, report.NoRung, why, 0)
	case why.AtAdmission():
		r.stepDown(a, d.Descent, d.Full(left), d.retryAfter)
	default:
		r.stepDown(a, d.Descent, d.Missed(left), d.retryAfter)
	}
}
