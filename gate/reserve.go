package gate

import (
	"context"
	"crypto/rand"
	"strconv"
	"sync"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Reservation is what one attempt of a call takes of its class's quotas.
type Reservation struct {
	// ID is no other reservation's of any gate: what the gate is called, a dash, and
	// the number in base 36 of what it has asked for. Attempt is which try of a call it
	// is; the gate's own are all the first.
	ID      string
	Attempt int64
	Class   string
	Tenant  string
	Ask     quota.Ask
	Quotas  []quota.Quota // the class's, which are not changed
}

// Reserver keeps what is taken of quotas where it outlives the process, and where
// others take of them too: a ledger. Its methods are called by many goroutines at
// once, on goroutines that may wait for them, and never under the gate's lock.
type Reserver interface {
	// Reserve takes what is asked for of every budget that applies, or nothing and
	// says why. A store that cannot say gives reason.LedgerUnavailable.
	Reserve(ctx context.Context, r Reservation) quota.Verdict
	// Start writes the start marker. Before it returns nil nothing may be sent.
	Start(ctx context.Context, r Reservation) error
	// Settle says what it used: its slot is free. It returns when the store knows,
	// or when ctx ends; the same holds of Lose and Release.
	Settle(ctx context.Context, r Reservation, used quota.Amounts) error
	// Lose says that nobody knows what became of it: its slot stays taken.
	Lose(ctx context.Context, r Reservation, why string) error
	// Release gives back what was taken for a call that was never sent.
	Release(ctx context.Context, r Reservation, why string) error
}

// WithReserver has the gate's classes under quotas reserve before they run. Without
// one the gate knows its own quotas alone, and forgets them when it ends.
func WithReserver(r Reserver) Option { return func(g *Gate) { g.reserver = r } }

// unkept is the reserver of a gate that has none: what the machine reckons is all
// that there is.
type unkept struct{}

func (unkept) Reserve(context.Context, Reservation) quota.Verdict { return quota.Verdict{Budget: -1} }
func (unkept) Start(context.Context, Reservation) error           { return nil }
func (unkept) Settle(context.Context, Reservation, quota.Amounts) error {
	return nil
}
func (unkept) Lose(context.Context, Reservation, string) error    { return nil }
func (unkept) Release(context.Context, Reservation, string) error { return nil }

// reservation is one on its way through the gate.
type reservation struct {
	Reservation
	gate   *Gate
	class  int
	ticket boundary.Ticket
	until  unit.Instant // when nobody waits for it any more
	at     unit.Instant // when it was asked for
	// granted, under the gate's lock: the request has it.
	granted bool

	mu      sync.Mutex
	started bool
	told    bool // what became of it
}

// newReservation returns the one of a request that is to be reserved for. It is
// called under the lock.
func (g *Gate) newReservation(t boundary.Ticket, class int, now unit.Instant) *reservation {
	g.reserved++
	a := g.machine.Asked(t)
	return &reservation{
		Reservation: Reservation{
			ID: g.name + strconv.FormatUint(g.reserved, 36), Attempt: 1, Class: (*g.names.Load())[class],
			Tenant: a.Tenant, Ask: a.Ask, Quotas: a.Quotas,
		},
		gate: g, class: class, ticket: t, until: a.Deadline, at: now,
	}
}

// unique returns what no other gate's reservations begin with.
func unique() string { return rand.Text() + "-" }

// reserveAll has the reservations asked for that events have brought about. Each has a
// goroutine of its own while it lasts, and there are never more than slots.
func (g *Gate) reserveAll(all []*reservation) {
	for _, r := range all {
		g.settling.Add(1)
		go func() {
			defer g.settling.Done()
			ctx, cancel := context.WithDeadline(context.Background(), g.time(r.until))
			defer cancel()
			r.answered(g.reserver.Reserve(ctx, r.Reservation))
		}()
	}
}

// answered takes in what the store has said.
func (r *reservation) answered(v quota.Verdict) {
	g := r.gate
	now := g.Now()
	g.mu.Lock()
	if !v.OK() {
		g.machine.NotReserved(now, r.ticket, v, &g.out)
		g.settle(now, boundary.Denied, r.ticket)
		return
	}
	r.granted = g.machine.Reserved(now, r.ticket, &g.out)
	unused := !r.granted
	g.settle(now, boundary.Granted, r.ticket)
	if unused {
		r.drop("its request was answered before it was reserved")
	}
}

// Reservation returns what was reserved for the permit's request, and false where
// nothing was.
func (p Permit) Reservation() (Reservation, bool) {
	if p.res == nil {
		return Reservation{}, false
	}
	return p.res.Reservation, true
}

// Start writes the start marker of a request under quotas: nothing may be sent
// before it returns nil. For any other it does nothing. It may be called again.
func (p Permit) Start(ctx context.Context) error {
	r := p.res
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		return nil
	}
	err := r.gate.reserver.Start(ctx, r.Reservation)
	r.started = err == nil
	return err
}

// Settle says what a call under quotas used, whose end is known. What is said first
// of Settle, Lose and Unsent holds; who says nothing before the permit is finished
// is taken to have used what was asked for if it was served or failed, to be lost if
// not, and not to have been sent if it was not started.
func (p Permit) Settle(used quota.Amounts) {
	p.res.tell(used, false, func(ctx context.Context, r *reservation) error {
		return r.gate.reserver.Settle(ctx, r.Reservation, used)
	})
}

// Lose says that nobody knows what became of the call.
func (p Permit) Lose(why string) {
	if p.res == nil {
		return
	}
	p.res.tell(p.res.Ask.Amounts, false, func(ctx context.Context, r *reservation) error { return r.gate.reserver.Lose(ctx, r.Reservation, why) })
}

// Unsent says that the call was never sent, and how that is known.
func (p Permit) Unsent(why string) {
	p.res.tell(quota.Amounts{}, true, func(ctx context.Context, r *reservation) error {
		return r.gate.reserver.Release(ctx, r.Reservation, why)
	})
}

// ended says what nobody has said by the time the permit is finished.
func (p Permit) ended(why reason.Reason) {
	p.res.mu.Lock()
	started := p.res.started
	p.res.mu.Unlock()
	switch {
	case why == reason.None:
		p.res.drop("the grant was given back")
	case !started:
		p.Unsent("it was not started")
	case why == reason.Served || why == reason.Failed:
		p.Settle(p.res.Ask.Amounts)
	default:
		p.Lose(why.String())
	}
}

// tell has the store told, and then the machine.
func (r *reservation) tell(used quota.Amounts, unsent bool, f func(context.Context, *reservation) error) {
	if r == nil || !r.first() {
		return
	}
	g := r.gate
	g.settling.Add(1)
	go func() {
		defer g.settling.Done()
		if f(context.Background(), r) != nil {
			return // the store does not know; nothing is to be had that it would not give
		}
		g.settled(&boundary.Settlement{Class: r.class, Tenant: r.Tenant, Taken: r.Ask.Amounts, Used: used, At: r.at, Unsent: unsent})
	}()
}

// drop releases it without telling the machine, which knows.
func (r *reservation) drop(why string) {
	if !r.first() {
		return
	}
	g := r.gate
	g.settling.Add(1)
	go func() {
		defer g.settling.Done()
		if g.reserver.Release(context.Background(), r.Reservation, why) == nil {
			g.settled(&boundary.Settlement{Class: r.class, Tenant: r.Tenant})
		}
	}()
}

// first reports whether nothing has been said of it before.
func (r *reservation) first() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.told
	r.told = true
	return !was
}

func (g *Gate) settled(s *boundary.Settlement) {
	now := g.Now()
	g.mu.Lock()
	g.machine.Settled(now, s, &g.out)
	g.settle(now, boundary.Settled, 0)
}

// Freed says that there may be room in the budgets of a class, of which the gate knows
// nothing else: a reservation of a further attempt was settled, say.
func (g *Gate) Freed(class int) {
	g.mustHave(class)
	g.settled(&boundary.Settlement{Class: class})
}

// WaitSettled returns when the reserver has been told of all that has ended, or with
// the context's error.
func (g *Gate) WaitSettled(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		g.settling.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Quota returns the state of a class's quotas as the gate reckons them, or nil if it has
// none.
func (g *Gate) Quota(class int) *boundary.QuotaState {
	g.mustHave(class)
	now := g.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.machine.Quota(now, class)
}
