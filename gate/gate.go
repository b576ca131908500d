package gate

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Gate is a machine made live. Create it with New.
type Gate struct {
	epoch time.Time
	names atomic.Pointer[[]string] // of the classes, by index
	tap   func(boundary.Event)

	// mu guards all that follows. It is held for one event at a time, never
	// while waiting, and never while anybody else's code runs but the tap's.
	mu      sync.Mutex
	machine *boundary.Machine
	out     boundary.Effects
	seats   []seat // by Ticket.Index
	timer   *time.Timer
	armed   unit.Instant
	late    []call // overdue callers to be told once mu is free
	// released holds the permits whose slot was taken away while their work
	// went on, so that finishing them is no bug. One entry for each piece of
	// work that outlived the hard cap and still runs.
	released map[boundary.Ticket]struct{}
	emptied  chan struct{} // closed when a draining gate is empty; nil before
}

// seat is what the gate keeps of a request beside the machine's record.
type seat struct {
	ticket    boundary.Ticket
	waiter    *waiter
	onOverdue func(Refusal)
}

// Option changes what a gate does beside deciding.
type Option func(*Gate)

// WithTap has every event shown to f together with what came of it, in order,
// under the gate's lock: f must be quick, keep nothing of the event's effects,
// and not call the gate.
func WithTap(f func(boundary.Event)) Option { return func(g *Gate) { g.tap = f } }

// New returns a gate for the configuration, or the configuration's faults.
func New(cfg Config, opts ...Option) (*Gate, error) {
	m, err := boundary.New(cfg)
	if err != nil {
		return nil, err
	}
	g := &Gate{
		epoch:    time.Now(),
		machine:  m,
		armed:    unit.Never,
		released: make(map[boundary.Ticket]struct{}),
	}
	g.rename()
	for _, o := range opts {
		o(g)
	}
	return g, nil
}

// Now returns the gate's time: nanoseconds since its making, monotonic.
func (g *Gate) Now() unit.Instant { return unit.Instant(time.Since(g.epoch)) }

func (g *Gate) time(t unit.Instant) time.Time { return g.epoch.Add(time.Duration(t)) }

// Acquire asks for the right to run, waiting for it if the boundary says so.
// The error is a *Refusal. A caller whose context ends while it waits is out of
// the queue at once.
func (g *Gate) Acquire(ctx context.Context, r Request) (Permit, error) {
	p, refused := g.Enter(ctx, r)
	if refused.Reason != reason.None {
		err := refused
		return Permit{}, &err
	}
	return p, nil
}

// Do runs f with the right to run, and finishes the permit whatever f does:
// return, panic, or end the goroutine. The context that f is given ends at the
// request's deadline. An error of f that is the context's deadline counts as
// timeout, any other as failed; it is returned as it is. If f did not run, the
// error is a *Refusal.
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
	outcome = outcomeOf(err, ctx)
	return err
}

func outcomeOf(err error, ctx context.Context) reason.Reason {
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
func (g *Gate) Enter(ctx context.Context, r Request) (Permit, Refusal) {
	now := r.At
	if now == 0 {
		now = g.Now()
	}
	ask := boundary.Request{
		Class:      r.Class,
		Tenant:     r.Tenant,
		Importance: r.Importance,
		Deadline:   g.deadline(ctx, now, r.Timeout),
		Cost:       unit.Cost(r.Cost),
		Bytes:      r.Bytes,
	}
	g.mu.Lock()
	v := g.machine.Offer(now, &ask, &g.out)
	var w *waiter
	if v.Kind != boundary.Refuse {
		if v.Kind == boundary.Wait {
			w = newWaiter()
		}
		if w != nil || r.OnOverdue != nil {
			g.sit(seat{v.Ticket, w, r.OnOverdue})
		}
	}
	g.settle(now, boundary.Offered, r.Class, r.Tenant, v.Ticket, v)
	switch v.Kind {
	case boundary.Run:
		return Permit{g, v.Ticket, v.Deadline}, Refusal{}
	case boundary.Refuse:
		return Permit{}, g.refusal(r.Class, v.Reason, v.RetryAfter)
	}
	return g.wait(ctx, r.Class, v, w)
}

// deadline returns the caller's deadline as an instant, 0 if it named none.
func (g *Gate) deadline(ctx context.Context, now unit.Instant, timeout time.Duration) unit.Instant {
	var at unit.Instant
	if timeout != 0 {
		at = now.Add(timeout)
	}
	if d, ok := ctx.Deadline(); ok {
		if c := unit.Instant(d.Sub(g.epoch)); at == 0 || c < at {
			at = c
		}
	} else if timeout == 0 {
		return 0
	}
	if at == 0 {
		at = -1 // the epoch itself: long gone, and not to be read as "none"
	}
	return at
}

func (g *Gate) refusal(class int, why reason.Reason, after time.Duration) Refusal {
	return Refusal{Reason: why, RetryAfter: after, Class: (*g.names.Load())[class]}
}

// rename notes the classes' names, which never change or move: classes are only
// ever added.
func (g *Gate) rename() {
	names := make([]string, g.machine.Classes())
	for i := range names {
		names[i] = g.machine.Class(i).Name
	}
	g.names.Store(&names)
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

func (g *Gate) finish(at unit.Instant, t boundary.Ticket, o boundary.Outcome) {
	if at == 0 {
		at = g.Now()
	}
	g.mu.Lock()
	if len(g.released) > 0 {
		if _, ok := g.released[t]; ok {
			delete(g.released, t)
			g.mu.Unlock()
			return
		}
	}
	g.stand(t)
	g.machine.Done(at, t, o, &g.out)
	g.settle(at, boundary.Ended, 0, "", t, boundary.Verdict{})
}

func (g *Gate) answered(t boundary.Ticket) {
	now := g.Now()
	g.mu.Lock()
	g.machine.Answered(now, t, &g.out)
	g.settle(now, boundary.Began, 0, "", t, boundary.Verdict{})
}

func (g *Gate) abandon(t boundary.Ticket, why reason.Reason) {
	now := g.Now()
	g.mu.Lock()
	g.machine.Abandon(now, t, why, &g.out)
	g.settle(now, boundary.Abandoned, 0, "", t, boundary.Verdict{})
}
