package gate

import (
	"context"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/unit"
)

// WithCases has the case of every request that is answered without having been
// served shown to f, with the class's name and the request's ID: who is refused when it is offered
// (also, in a class in shadow, who would be), who is turned out of the room, and
// who is answered at its deadline. f is called under the gate's lock: it must be
// quick, copy what it keeps, the tenant's name included, and not call the gate.
// Working a case out takes a fraction of a microsecond and allocates nothing; a
// request that runs at once pays nothing for it.
func WithCases(f func(class, id string, x *boundary.Case)) Option {
	return func(g *Gate) { g.cases, g.out.Watched = f, true }
}

// TellCases is WithCases for a gate that is in use; nil ends it. Once it has
// returned, what f was before is not called any more.
func (g *Gate) TellCases(f func(class, id string, x *boundary.Case)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cases, g.out.Watched = f, f != nil
}

// explain tells the case of an offer that has just been refused.
func (g *Gate) explain(ctx context.Context, now unit.Instant, r *Request, v boundary.Verdict) {
	ask := boundary.Request{
		Class: r.Class, Tenant: r.Tenant, Importance: r.Importance, Retry: r.Retry, Client: r.Client, Refuse: r.Refuse,
		Deadline: g.deadline(ctx, now, r.Timeout), Bytes: r.Bytes, Ask: r.Ask,
		Session: r.Session, Stretch: r.Stretch, Gap: r.Gap, Kept: r.Kept,
	}
	g.machine.Explain(now, &ask, v, &g.asked)
	g.tellCase(r.ID, &g.asked)
}

// explainOthers tells the cases of those who waited or ran, while they still have
// their seats.
func (g *Gate) explainOthers() {
	for i := range g.out.Cases {
		x := &g.out.Cases[i]
		id := ""
		if k := x.Ticket.Index(); k < len(g.seats) && g.seats[k].ticket == x.Ticket {
			id = g.seats[k].id
		}
		g.tellCase(id, x)
	}
	g.out.Cases = g.out.Cases[:0]
}

func (g *Gate) tellCase(id string, x *boundary.Case) { g.cases((*g.names.Load())[x.Class], id, x) }
