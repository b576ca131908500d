package reserve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Reserver is a gate.Reserver on a ledger. It is safe for concurrent use.
type Reserver struct {
	ledger atomic.Pointer[ledger.Ledger]
	seen   Seen
	closed chan struct{}
	once   sync.Once
	Counts Counts
}

// Seen is who hears of what cannot be told to anybody else.
type Seen interface {
	// Failed is called when the ledger has failed, before it is tried again.
	Failed(what string, err error)
}

// Counts is what has happened since the start.
type Counts struct {
	Reserved, Refused, Unavailable, Started, Settled, Lost, Released, Retried atomic.Int64
}

// New returns one that has no ledger yet: it reserves nothing.
func New(seen Seen) *Reserver { return &Reserver{seen: seen, closed: make(chan struct{})} }

// Use gives it its ledger.
func (r *Reserver) Use(l *ledger.Ledger) { r.ledger.Store(l) }

// Close ends the telling of what the ledger has not heard.
func (r *Reserver) Close() { r.once.Do(func() { close(r.closed) }) }

var errNone = fmt.Errorf("%w: there is none", ledger.ErrUnavailable)

// unavailable is the verdict of a ledger that cannot say.
func unavailable() quota.Verdict { return quota.Verdict{Reason: reason.LedgerUnavailable, Budget: -1} }

// Reserve implements gate.Reserver. Of quotas that were replaced meanwhile the new ones
// are asked.
func (r *Reserver) Reserve(ctx context.Context, a gate.Reservation) quota.Verdict {
	l := r.ledger.Load()
	if l == nil {
		r.Counts.Unavailable.Add(1)
		r.seen.Failed("reserve", errNone)
		return unavailable()
	}
	g, err := l.Reserve(ctx, r.ask(l, a))
	if errors.Is(err, ledger.ErrTerms) {
		g, err = l.Reserve(ctx, r.ask(l, a))
	}
	switch {
	case err == nil && g.OK():
		r.Counts.Reserved.Add(1)
	case err == nil:
		r.Counts.Refused.Add(1)
	default:
		r.Counts.Unavailable.Add(1)
		if errors.Is(err, ledger.ErrUncertain) {
			go r.Release(context.Background(), a, "it was not known whether it was reserved")
		}
		if ctx.Err() == nil { // or its deadline was shorter than the ledger's answer
			r.seen.Failed("reserve", err)
		}
		return unavailable()
	}
	return g.Verdict
}

// ask is what the ledger is asked: by the quotas that count, which are its own.
func (r *Reserver) ask(l *ledger.Ledger, a gate.Reservation) ledger.Ask {
	count, _ := l.Quotas()
	ask := ledger.Ask{ID: a.ID, Attempt: a.Attempt, Tenant: a.Tenant, Amounts: a.Ask.Amounts}
	for i := range a.Quotas {
		q := &a.Quotas[i]
		for k := range count {
			if count[k].Name == q.Name {
				q = &count[k]
			}
		}
		ask.Budgets = q.Append(ask.Budgets, a.Tenant, a.Ask.Model)
	}
	return ask
}

// Start implements gate.Reserver.
func (r *Reserver) Start(ctx context.Context, a gate.Reservation) error {
	l := r.ledger.Load()
	if l == nil {
		return errNone
	}
	err := l.Start(ctx, a.ID, a.Attempt)
	if err != nil {
		r.seen.Failed("start", err)
		return err
	}
	r.Counts.Started.Add(1)
	return nil
}

// Settle implements gate.Reserver.
func (r *Reserver) Settle(ctx context.Context, a gate.Reservation, used quota.Amounts) error {
	return r.tell(ctx, "settle", &r.Counts.Settled, func(ctx context.Context, l *ledger.Ledger) error {
		return l.Settle(ctx, a.ID, a.Attempt, used)
	})
}

// Lose implements gate.Reserver.
func (r *Reserver) Lose(ctx context.Context, a gate.Reservation, why string) error {
	return r.tell(ctx, "lose", &r.Counts.Lost, func(ctx context.Context, l *ledger.Ledger) error {
		return l.Lose(ctx, a.ID, a.Attempt, why)
	})
}

// Release implements gate.Reserver. Where the start marker was written already, who
// releases has other evidence that nothing was sent, and that is written down: its own
// process knows.
func (r *Reserver) Release(ctx context.Context, a gate.Reservation, why string) error {
	return r.tell(ctx, "release", &r.Counts.Released, func(ctx context.Context, l *ledger.Ledger) error {
		err := l.Release(ctx, a.ID, a.Attempt)
		if !errors.Is(err, quota.ErrStarted) {
			return err
		}
		if err := l.Lose(ctx, a.ID, a.Attempt, why); err != nil {
			return err
		}
		return l.Reconcile(ctx, a.ID, a.Attempt, ledger.Known{NotStarted: true, Evidence: "its gateway has not sent it: " + why})
	})
}

// Waits between two tries to tell the ledger.
const (
	retryFirst = 20 * time.Millisecond
	retryMost  = 2 * time.Second
)

// tell tells the ledger until it has heard. What it knows already it has heard.
func (r *Reserver) tell(ctx context.Context, what string, count *atomic.Int64, f func(context.Context, *ledger.Ledger) error) error {
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		l := r.ledger.Load()
		err := errNone
		if l != nil {
			err = f(ctx, l)
		}
		if !errors.Is(err, ledger.ErrUnavailable) && !errors.Is(err, ledger.ErrUncertain) {
			if err == nil {
				count.Add(1)
			}
			return r.heard(what, err)
		}
		r.seen.Failed(what, err)
		r.Counts.Retried.Add(1)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		case <-r.closed:
			return err
		}
	}
}

// heard is what the ledger's answer means for who told it: that it is over already, or
// never was, is no failure of the telling.
func (r *Reserver) heard(what string, err error) error {
	switch {
	case err == nil, errors.Is(err, quota.ErrOver), errors.Is(err, ledger.ErrNoCall):
		return nil
	}
	r.seen.Failed(what, err)
	return err
}
