package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Acquire asks for the right to run, waiting for it if the boundary says so.
// The error is a *Refusal. A caller whose context ends while it waits is out of
// the queue at once; one whose context has ended before is not let in.
func (g *Gate) Acquire(ctx context.Context, r Request) (Permit, error) {
	p, refused := g.enter(ctx, &r)
	if refused.Reason != reason.None {
		err := refused
		return Permit{}, &err
	}
	return p, nil
}

// Do runs f with the right to run, and finishes the permit whatever f does:
// return, panic, or end the goroutine. The context that f is given ends at the
// request's deadline. An error of f after that deadline counts as timeout, one
// after the caller has gone as caller_gone, any other as failed; it is returned
// as it is. If f did not run, the error is a *Refusal.
func (g *Gate) Do(ctx context.Context, r Request, f func(context.Context) error) (err error) {
	p, err := g.Acquire(ctx, r)
	if err != nil {
		return err
	}
	outcome := reason.Failed // what stands if f does not return
	defer func() { p.Finish(outcome) }()
	ctx, cancel := context.WithDeadline(ctx, p.Deadline())
	defer cancel()
	err = f(ctx)
	outcome = outcomeOf(ctx, err)
	return err
}

func outcomeOf(ctx context.Context, err error) reason.Reason {
	switch {
	case err == nil:
		return reason.Served
	case ctx.Err() == context.DeadlineExceeded:
		return reason.Timeout
	case ctx.Err() == context.Canceled:
		return reason.CallerGone
	}
	return reason.Failed
}

// Enter is Acquire without an allocation for a refusal: the request is admitted
// if the refusal's reason is reason.None.
//
// It panics for a class that does not exist.
func (g *Gate) Enter(ctx context.Context, r Request) (Permit, Refusal) { return g.enter(ctx, &r) }

// enter is Enter without a copy of the request: Enter is inlined.
func (g *Gate) enter(ctx context.Context, r *Request) (Permit, Refusal) {
	if uint(r.Class) >= uint(len(*g.names.Load())) {
		panic(fmt.Sprintf("gate: there is no class %d", r.Class)) // here, where no lock is held
	}
	now := r.At
	if now == 0 {
		now = g.Now()
	}
	gone := ctx.Err() != nil
	due := g.deadline(ctx, now, r.Timeout)
	// Field by field: a literal is made elsewhere and copied, in loads wider than the
	// stores before them, for which a processor waits. And into memory that is the
	// caller's: what is the gate's goes from core to core.
	var ask boundary.Request
	ask.Class = r.Class
	ask.Tenant = r.Tenant
	ask.Session, ask.Stretch = r.Session, r.Stretch
	ask.Gap, ask.Kept = r.Gap, r.Kept
	ask.Importance = r.Importance
	ask.Retry, ask.Client, ask.Refuse = r.Retry, r.Client, r.Refuse
	ask.Deadline = due
	ask.Cost = unit.Cost(r.Cost)
	ask.Ask = r.Ask
	ask.Bytes = r.Bytes
	g.mu.Lock()
	v := g.machine.Offer(now, &ask, &g.out)
	if v.Decision == (boundary.Decision{Kind: boundary.Run}) && !gone && g.quiet(g.machine.Next()) {
		if r.OnOverdue != nil {
			g.sit(seat{v.Ticket, nil, r.OnOverdue, r.ID})
		}
		g.mu.Unlock()
		return Permit{g, v.Ticket, v.Deadline, now, nil}, Refusal{}
	}
	return g.offered(ctx, now, r, v, gone)
}

// offered is what there is to do after an offer in all but the plainest case.
// It takes mu over and gives it back.
func (g *Gate) offered(ctx context.Context, now unit.Instant, r *Request, v boundary.Verdict, gone bool) (Permit, Refusal) {
	if g.cases != nil && v.Reason != reason.None {
		g.explain(ctx, now, r, v)
	}
	// First those who had to make way for this one: its seat may have been theirs.
	g.carryOut(boundary.Event{At: now, Kind: boundary.Offered, Class: r.Class, Tenant: r.Tenant, Ticket: v.Ticket, Verdict: v})
	var w *waiter
	if v.Kind == boundary.Wait || v.Kind == boundary.Reserve {
		w = g.waiters.Get().(*waiter)
	}
	if v.Kind != boundary.Refuse && (w != nil || r.OnOverdue != nil) {
		g.sit(seat{v.Ticket, w, r.OnOverdue, r.ID})
	}
	if v.Kind == boundary.Reserve && !gone {
		g.toReserve(v.Ticket, r.Class, now)
	}
	switch {
	case v.Kind == boundary.Refuse:
		g.unlock()
		return Permit{}, g.refusal(r.Class, v.Reason, v.RetryAfter)
	case gone:
		return g.leave(now, r.Class, v, w)
	case v.Kind == boundary.Run:
		g.unlock()
		return Permit{g, v.Ticket, v.Deadline, now, nil}, Refusal{}
	}
	g.unlock()
	return g.wait(ctx, r.Class, v, w)
}

// deadline returns the caller's deadline as an instant, 0 if it named none.
func (g *Gate) deadline(ctx context.Context, now unit.Instant, timeout time.Duration) unit.Instant {
	d, ok := ctx.Deadline()
	if !ok {
		if timeout == 0 {
			return 0
		}
		return named(now.Add(timeout))
	}
	at := unit.Instant(d.Sub(g.epoch))
	if d == d.Round(0) {
		// A deadline by the wall clock alone. It is as far away as it was
		// when its context was made, whatever the wall clock said when this
		// gate was.
		at = now.Add(time.Until(d))
	}
	if timeout != 0 {
		at = min(at, now.Add(timeout))
	}
	return named(at)
}

// named returns at as a deadline that has been named, which 0 says has not.
// The epoch itself is long gone.
func named(at unit.Instant) unit.Instant {
	if at == 0 {
		return -1
	}
	return at
}

func (g *Gate) refusal(class int, why reason.Reason, after time.Duration) Refusal {
	return Refusal{Reason: why, RetryAfter: after, Class: (*g.names.Load())[class]}
}
