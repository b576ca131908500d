package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Terms are the quotas that a ledger holds: for every gateway the only ones.
type Terms struct {
	// Version is 1 for the first, and one more each time others take their place; 0 if
	// the ledger holds none.
	Version int64
	// Text is how they are written, the same for the same quotas.
	Text string
	// By is who brought them, and At when by the store's calendar.
	By string
	At unit.Instant
}

// OnOther is what to do if the ledger holds other quotas than those brought.
type OnOther uint8

// The ways to treat other quotas.
const (
	Refuse  OnOther = iota // keep the ledger's and return an *OtherTerms
	Adopt                  // go by the ledger's
	Replace                // put those brought in their place, for every gateway
)

// Came is what became of quotas that were brought to a ledger.
type Came uint8

// What can become of them.
const (
	Same     Came = iota // the ledger holds the same
	First                // it held none, and holds them now
	Adopted              // it holds others, which count
	Replaced             // it held others, and holds them now
)

// OtherTerms is the error of quotas that are not the ledger's.
type OtherTerms struct {
	Holds Terms
	// Differs names a budget of which the two say something else.
	Differs string
}

// Error says what differs and what can be done.
func (o *OtherTerms) Error() string {
	return fmt.Sprintf("the ledger holds other quotas (version %d, brought by %s): %s; bring the same, adopt the ledger's, or replace them for every gateway", o.Holds.Version, o.Holds.By, o.Differs)
}

// ErrTerms says that the quotas have been replaced by another gateway, and the ask was made by
// the old ones. Nothing was taken; made again by [Ledger.Quotas] it is answered.
var ErrTerms = errors.New("the quotas have been replaced")

// terms are those that a process goes by.
type terms struct {
	Terms
	quotas []quota.Quota
}

// Configure brings the quotas of a configuration to the ledger. It returns those that
// count from then on, and what became of the ones brought; afterwards [Ledger.Quotas]
// has them, also when another gateway replaces them later. Limits that change change
// at once, and what was used of a budget stays used; a budget that the quotas have no
// more keeps its row, and what was used of it, for when they have it again.
func (l *Ledger) Configure(ctx context.Context, quotas []quota.Quota, on OnOther) (Terms, Came, error) {
	text, err := encodeQuotas(quotas)
	if err != nil {
		return Terms{}, Same, err
	}
	for {
		var is Terms
		var came Came
		var names []string
		err = l.store.View(ctx, func(r Rows) (err error) {
			names, err = budgetNames(r)
			return err
		})
		if err != nil {
			return Terms{}, Same, unavailable(err)
		}
		// By itself, and not with whoever else waits: it may be broken off.
		err = l.store.Update(ctx, Touches{Budgets: names}, func(r Rows) (err error) {
			is, came, err = l.bring(r, quotas, text, on, names)
			return err
		})
		if errors.Is(err, errMoreBudgets) {
			continue
		}
		var other *OtherTerms
		switch {
		case errors.As(err, &other):
			return is, came, other
		case err != nil:
			return is, came, unavailable(err)
		}
		return is, came, l.goBy(is)
	}
}

var errMoreBudgets = errors.New("more budgets than were said to be touched")

func (l *Ledger) bring(r Rows, quotas []quota.Quota, text string, on OnOther, touched []string) (is Terms, came Came, err error) {
	is, err = r.Terms()
	switch {
	case err != nil:
		return is, Same, err
	case is.Version > 0 && is.Text == text:
		return is, Same, nil
	case is.Version > 0 && on == Adopt:
		return is, Adopted, nil
	case is.Version > 0 && on == Refuse:
		return is, Same, &OtherTerms{is, differ(is.Text, text)}
	}
	came = Replaced
	if is.Version == 0 {
		came = First
	}
	is = Terms{Version: is.Version + 1, Text: text, By: l.name, At: r.Time().Wall}
	if err := r.SetTerms(is); err != nil {
		return is, came, err
	}
	// From here on whoever makes a budget's row waits; whoever has made one before was
	// waited for, so that it is found now.
	now, err := budgetNames(r)
	switch {
	case err != nil:
		return is, came, err
	case !slices.Equal(now, touched):
		return is, came, errMoreBudgets
	}
	return is, came, relimit(r, quotas, now)
}

// relimit gives every budget the limit that it has now.
func relimit(r Rows, quotas []quota.Quota, names []string) error {
	for _, name := range names {
		limit, there := quota.Limited(quotas, name)
		if !there {
			continue
		}
		b, _, err := r.Budget(name)
		if err != nil {
			return err
		}
		if b.Limit.Unit != limit.Unit || sameLimit(b.Limit, limit) {
			continue
		}
		b.Relimit(r.Time(), limit)
		if err := r.SetBudget(name, b); err != nil {
			return err
		}
	}
	return nil
}

func sameLimit(a, b quota.Limit) bool {
	zones := zoneName(a.Window.Zone) == zoneName(b.Window.Zone)
	a.Window.Zone, b.Window.Zone = nil, nil
	return zones && a == b
}

func budgetNames(r Rows) (names []string, err error) {
	err = r.Budgets(func(name string, _ quota.Budget) error {
		names = append(names, name)
		return nil
	})
	return names, err
}

// Quotas returns the quotas that count now, and their version: none before Configure.
// They are not to be changed.
func (l *Ledger) Quotas() ([]quota.Quota, int64) {
	if t := l.terms.Load(); t != nil {
		return t.quotas, t.Version
	}
	return nil, 0
}

// goBy has the process go by terms that the ledger holds.
func (l *Ledger) goBy(is Terms) error {
	quotas, err := decodeQuotas(is.Text)
	if err != nil {
		return fmt.Errorf("the quotas that the ledger holds (version %d): %w", is.Version, err)
	}
	l.terms.Store(&terms{is, quotas})
	return nil
}

// current reports whether the process goes by the terms that the ledger holds. It is
// asked when a budget's row is made: those that are there have their limits.
func (l *Ledger) current(r Rows) (bool, error) {
	mine := l.terms.Load()
	if mine == nil {
		return true, nil
	}
	is, err := r.Terms()
	return is.Version == mine.Version, err
}

// follow goes by what the ledger holds, if that has changed, and reports whether.
func (l *Ledger) follow(ctx context.Context) (is Terms, changed bool, err error) {
	mine := l.terms.Load()
	if mine == nil {
		return is, false, nil
	}
	err = l.store.View(ctx, func(r Rows) (err error) {
		is, err = r.Terms()
		return err
	})
	if err != nil || is.Version == mine.Version {
		return is, false, err
	}
	return is, true, l.goBy(is)
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }
