package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/spillway-dev/spillway/policy/quota"
)

// Lease is credit of a budget that a process holds; see quota.Lease.
type Lease struct {
	Budget, Owner string
	Credit        int64
}

// LeaseRows is what a transaction sees of leases. The budget of a lease is among what
// the transaction touches.
type LeaseRows interface {
	// Leases returns those of a budget, LeasesOf those of an owner.
	Leases(budget string) ([]Lease, error)
	LeasesOf(owner string) ([]Lease, error)
	// SetLease writes one, or removes it if its credit is 0.
	SetLease(l Lease) error
	// AddSwept adds to what a budget has been charged that no call's row stands for.
	AddSwept(budget string, n int64) error
}

// Renewal is what a process that holds credit of a budget says and asks.
type Renewal struct {
	Budget Ref
	// Holding is the credit that it has left, and may go on to spend: what it was given
	// beyond that is spent. Said twice it is said once.
	Holding int64
	// Want is how much more it asks for.
	Want int64
	// Back is credit that it gives back; Holding is without it.
	Back int64
}

// Renewed is what it is answered.
type Renewed struct {
	quota.Granted
	// Most is the most that it may hold.
	Most int64
}

// Renew settles what was spent of a lease, gives back what is given back, and grants
// more. A budget that is leased is spent by leases alone, so that what is out is known.
func (l *Ledger) Renew(ctx context.Context, a Renewal) (out Renewed, err error) {
	name := a.Budget.Name
	if err := (&Ask{ID: "lease", Budgets: []Ref{a.Budget}}).check(); err != nil {
		return out, err
	}
	if a.Budget.Limit.Unit == quota.Concurrent || min(a.Holding, a.Want, a.Back) < 0 {
		return out, fmt.Errorf("a lease of %s, holding %d, wanting %d, back %d; slots are not leased, and amounts are 0 or more", name, a.Holding, a.Want, a.Back)
	}
	var wrong error
	err = l.group.do(ctx, Touches{Budgets: []string{name}}, func(r Rows) (err error) {
		out, wrong, err = l.renew(r, &a)
		return err
	})
	if err == nil {
		err = wrong
	}
	if errors.Is(err, ErrTerms) {
		if _, _, look := l.follow(ctx); look != nil {
			err = look
		}
	}
	return out, err
}

func (l *Ledger) renew(r Rows, a *Renewal) (out Renewed, wrong, err error) {
	name := a.Budget.Name
	b, there, err := r.Budget(name)
	if err != nil {
		return out, nil, err
	}
	if !there {
		if ok, err := l.current(r); err != nil || !ok {
			return out, ErrTerms, err
		}
		b = quota.NewBudget(a.Budget.Limit, r.Time())
	}
	all, err := r.Leases(name)
	if err != nil {
		return out, nil, err
	}
	mine, others := int64(0), int64(0)
	for _, one := range all {
		if one.Owner == l.owner {
			mine = one.Credit
		} else {
			others += one.Credit
		}
	}
	holds := min(a.Holding, mine)
	back := min(a.Back, mine-holds)
	spent := mine - holds - back
	b.PayBack(r.Time(), back, others+holds)
	b.Spent += spent
	gateways := max(int(l.fleet.size.Load()), 1)
	out.Granted = b.Grant(r.Time(), others+holds, holds, a.Want, gateways)
	out.Most = b.Limit.LeaseMost(gateways)
	if err := r.SetBudget(name, b); err != nil {
		return out, nil, err
	}
	if spent > 0 {
		if err := r.AddSwept(name, spent); err != nil {
			return out, nil, err
		}
	}
	return out, nil, r.SetLease(Lease{name, l.owner, holds + out.Credit})
}

// endLeases ends the leases of a process that is gone: what it held is spent, since it
// may have been.
func (l *Ledger) endLeases(ctx context.Context, owner string) error {
	var left []Lease
	err := l.store.View(ctx, func(r Rows) (err error) {
		left, err = r.LeasesOf(owner)
		return err
	})
	if err != nil {
		return unavailable(err)
	}
	for _, one := range left {
		err := l.group.do(ctx, Touches{Budgets: []string{one.Budget}}, func(r Rows) error { return endLease(r, one) })
		if err != nil {
			return err
		}
	}
	return nil
}

func endLease(r Rows, one Lease) error {
	b, there, err := r.Budget(one.Budget)
	if err != nil || !there {
		return err
	}
	all, err := r.Leases(one.Budget)
	if err != nil {
		return err
	}
	for _, is := range all {
		if is.Owner != one.Owner {
			continue
		}
		b.Spent += is.Credit
		return errors.Join(r.SetBudget(one.Budget, b), r.AddSwept(one.Budget, is.Credit), r.SetLease(Lease{is.Budget, is.Owner, 0}))
	}
	return nil // somebody was quicker
}
