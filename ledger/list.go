package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/spillway-dev/spillway/policy/quota"
)

// CallFilter says which calls are asked for. What is empty is not asked for.
type CallFilter struct {
	// States are any of those; Open alone asks for all whose end is not known, which is
	// quick however many have ended.
	States                []quota.State
	Tenant, Owner, Budget string
	// After is the call after which to go on.
	After Key
}

// open reports whether only calls are asked for whose end is not known.
func (f *CallFilter) open() bool {
	return len(f.States) > 0 && !slices.ContainsFunc(f.States, quota.State.Final)
}

func (f *CallFilter) fits(c *Call) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, c.State)) &&
		(f.Tenant == "" || f.Tenant == c.Tenant) && (f.Owner == "" || f.Owner == c.Owner) &&
		(f.Budget == "" || slices.Contains(c.Budgets, f.Budget))
}

var errListFull = errors.New("the list is full")

// Calls returns up to n calls, at least 1, in order of id and attempt, and the
// CallFilter.After of what may be more, the zero Key if there is no more. It looks at
// ScanMost rows at most: what is rare is found over several pages.
func (l *Ledger) Calls(ctx context.Context, f CallFilter, n int) (calls []Call, more Key, err error) {
	err = l.store.View(ctx, func(r Rows) error {
		calls, more = nil, Key{}
		looked := 0
		err := r.CallsAfter(f.After, f.open(), ScanMost, func(c Call) error {
			looked++
			more = Key{c.ID, c.Attempt}
			if f.fits(&c) {
				calls = append(calls, c)
			}
			if len(calls) == n {
				return errListFull
			}
			return nil
		})
		switch {
		case errors.Is(err, errListFull):
			return nil
		case looked < ScanMost:
			more = Key{}
		}
		return err
	})
	if err != nil {
		return nil, Key{}, unavailable(err)
	}
	return calls, more, nil
}

// Attempts returns all attempts of a call that are there, up to ScanMost.
func (l *Ledger) Attempts(ctx context.Context, id string) (calls []Call, err error) {
	err = l.store.View(ctx, func(r Rows) error {
		calls = nil
		return r.CallsOf(id, ScanMost, func(c Call) error {
			calls = append(calls, c)
			return nil
		})
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return calls, nil
}

// BudgetState is a budget as it is at the moment.
type BudgetState struct {
	Name string
	quota.Budget
	// Free is what can be taken now.
	Free int64
	// Counts reports whether the quotas that count have it.
	Counts bool
}

// Budgets returns up to n budgets whose names come after the one given, in order of
// name, and the last one's name where there may be more.
func (l *Ledger) Budgets(ctx context.Context, after string, n int) (all []BudgetState, more string, err error) {
	quotas, _ := l.Quotas()
	err = l.store.View(ctx, func(r Rows) error {
		all, more = nil, ""
		err := r.Budgets(func(name string, b quota.Budget) error {
			if name <= after {
				return nil
			}
			if len(all) == n {
				more = all[n-1].Name
				return errListFull
			}
			_, counts := quota.Limited(quotas, name)
			all = append(all, BudgetState{name, b, b.Free(r.Time()), counts})
			return nil
		})
		if errors.Is(err, errListFull) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, "", unavailable(err)
	}
	return all, more, nil
}

// State is a ledger as a whole.
type State struct {
	Terms  Terms
	Owners []Owner
	// Me is the name under which this process writes.
	Me string
}

// Look returns who is there, and what terms count.
func (l *Ledger) Look(ctx context.Context) (s State, err error) {
	err = l.store.View(ctx, func(r Rows) (err error) {
		if s.Terms, err = r.Terms(); err != nil {
			return err
		}
		s.Owners, err = r.Owners()
		return err
	})
	s.Me = l.name
	if err != nil {
		return s, unavailable(err)
	}
	return s, nil
}

// ListRows is what a transaction sees of calls for a list.
type ListRows interface {
	// CallsAfter calls f with up to n attempts after one, of all or of those whose end is
	// not known, in order of id and attempt; an error of f ends it.
	CallsAfter(after Key, open bool, n int, f func(Call) error) error
	// CallsOf calls f with up to n attempts of a call, in order.
	CallsOf(id string, n int, f func(Call) error) error
}
