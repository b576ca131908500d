package ledger

import (
	"context"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Store keeps rows. It is safe for concurrent use.
type Store interface {
	// Update runs f in one transaction that sees and changes alone the rows that it
	// touches, and returns nil only when what f has changed is on disk. If f or the
	// store fails, nothing has changed; an error that is ErrUncertain says that it
	// may have. f may be run again, and is then to forget what it did before.
	Update(ctx context.Context, t Touches, f func(Rows) error) error
	// View runs f on a state of the rows that nobody changes meanwhile; f changes
	// nothing.
	View(ctx context.Context, f func(Rows) error) error
	// Alone reports whether nobody else can have the store open.
	Alone() bool
	// Close gives the store up. What was committed stays.
	Close() error
}

// Touches is which rows a transaction may ask for, in any order and more than once:
// attempts, with the budgets that they took of, and further budgets; jobs, by id and by
// idempotency key, with the lines that they are counted in, and further lines.
type Touches struct {
	Calls   []Key
	Budgets []string
	Jobs    []string
	Keys    []string
	Lines   []LineName
}

// Key names an attempt.
type Key struct {
	ID      string
	Attempt int64
}

// Rows is what a transaction sees. An error is the store's and ends the
// transaction. It is used by one goroutine, until f returns.
type Rows interface {
	// Time is when the transaction happens.
	Time() quota.Time
	// Budget returns a budget, and false if there is none of that name.
	Budget(name string) (quota.Budget, bool, error)
	SetBudget(name string, b quota.Budget) error
	// Call returns an attempt, and false if there is none.
	Call(id string, attempt int64) (Call, bool, error)
	SetCall(c Call) error
	// Open calls f with every attempt whose end is not known, and All with every
	// attempt, in order of id and attempt; an error of f ends it. f changes no row.
	Open(f func(Call) error) error
	All(f func(Call) error) error
	// Budgets calls f with every budget, in order of name.
	Budgets(f func(name string, b quota.Budget) error) error
	// Swept is what calls have cost a budget whose rows were removed.
	Swept(name string) (int64, error)
	// Over returns up to n attempts whose end is known and that were reserved before
	// an instant of the calendar, the oldest first.
	Over(before unit.Instant, n int) ([]Key, error)
	// Remove removes an attempt, adding what it cost each of its budgets to what was
	// swept.
	Remove(c Call) error
	JobRows
	FleetRows
	ListRows
	LeaseRows
}
