package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Leaser decides from leases: it holds credit of budgets, spends it without asking the
// store, and asks for more before it is spent. It is safe for concurrent use.
type Leaser struct {
	ledger *Ledger
	began  time.Time

	mu      sync.Mutex
	leases  map[string]*leased
	running sync.WaitGroup
	closed  bool
}

// leased is a lease with what is known of its budget.
type leased struct {
	quota.Lease
	ref    Ref
	most   int64
	asking chan struct{} // closed when what is asked for has come; nil: nothing is
	err    error         // of the latest asking
}

// leasesMost is how many budgets a process holds credit of.
const leasesMost = 4096

// Errors of a Leaser: the ask is one for Reserve.
var (
	// ErrNoLease: one of the budgets is of slots, or of less than leases serve, or there
	// are too many.
	ErrNoLease = errors.New("it is not leased")
)

// NewLeaser returns a Leaser on a ledger that has joined. Close it before the ledger.
func NewLeaser(l *Ledger) *Leaser {
	return &Leaser{ledger: l, began: time.Now(), leases: map[string]*leased{}}
}

// Take spends what is asked of every budget, or of none; waited says whether the store
// was waited for. ErrNoLease if it cannot be decided from leases; ErrUnavailable if a
// lease is needed and the store does not answer.
func (s *Leaser) Take(ctx context.Context, budgets []Ref, ask quota.Amounts) (v quota.Verdict, waited bool, err error) {
	var room [BudgetsMax]*quota.Lease
	var held [BudgetsMax]*leased
	for {
		s.mu.Lock()
		n, err := s.find(budgets, &ask, &room, &held)
		if err != nil {
			s.mu.Unlock()
			return v, waited, err
		}
		now := unit.Instant(time.Since(s.began))
		v = quota.Spend(now, room[:n], &ask)
		for _, e := range held[:n] {
			if e.asking == nil && e.Wants(now, e.most) > 0 {
				s.renew(e, now)
			}
		}
		if v.OK() || v.After > 0 {
			s.mu.Unlock()
			return v, waited, nil
		}
		e := held[v.Budget]
		switch {
		case ask[e.Unit] > e.most && e.asking == nil && e.err == nil:
			s.mu.Unlock()
			return v, waited, ErrNoLease // more than is ever held
		case e.asking == nil:
			s.renew(e, now)
		}
		come := e.asking
		s.mu.Unlock()
		waited = true
		select {
		case <-come:
		case <-ctx.Done():
			return v, waited, ctx.Err()
		}
		s.mu.Lock()
		err = e.err
		s.mu.Unlock()
		if err != nil {
			return v, waited, err
		}
	}
}

// find returns the leases of the budgets that are asked of. mu is held.
func (s *Leaser) find(budgets []Ref, ask *quota.Amounts, room *[BudgetsMax]*quota.Lease, held *[BudgetsMax]*leased) (n int, err error) {
	if s.closed {
		return 0, ErrUnavailable
	}
	if len(budgets) > BudgetsMax {
		return 0, fmt.Errorf("%d budgets; at most %d can apply to a call", len(budgets), BudgetsMax)
	}
	gateways := int(s.ledger.fleet.size.Load())
	for i := range budgets {
		b := &budgets[i]
		if ask[b.Limit.Unit] == 0 {
			continue
		}
		e := s.leases[b.Name]
		if e == nil {
			if !b.Limit.Leasable(gateways) || len(s.leases) == leasesMost {
				return 0, ErrNoLease
			}
			e = &leased{Lease: quota.Lease{Unit: b.Limit.Unit}, ref: *b, most: b.Limit.LeaseMost(gateways)}
			s.leases[b.Name] = e
		}
		room[n], held[n] = &e.Lease, e
		n++
	}
	return n, nil
}

// renew has more asked for. mu is held.
func (s *Leaser) renew(e *leased, now unit.Instant) {
	holding := e.Holding(now)
	a := Renewal{Budget: e.ref, Holding: holding, Want: max(e.most-holding, 1)}
	come := make(chan struct{})
	e.asking, e.err = come, nil
	s.running.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), leaseWait)
		defer cancel()
		out, err := s.ledger.Renew(ctx, a)
		s.mu.Lock()
		defer s.mu.Unlock()
		e.asking, e.err = nil, err
		if err == nil {
			e.most = out.Most
			e.Fill(now, out.Granted)
		}
		close(come)
	})
}

// leaseWait is how long a store may take to answer.
const leaseWait = 10 * time.Second

// Close gives back what is not spent.
func (s *Leaser) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
	var err error
	for _, e := range s.leases { // in any order
		back := e.Holding(unit.Instant(time.Since(s.began)))
		_, wrong := s.ledger.Renew(ctx, Renewal{Budget: e.ref, Back: back})
		err = errors.Join(err, wrong)
	}
	return err
}
