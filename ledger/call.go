package ledger

import (
	"errors"

	"github.com/spillway-dev/spillway/policy/quota"
)

// Ref names a budget and says what it is where the ledger has none of that name: the
// row is made in the transaction that first takes of it.
type Ref = quota.Ref

// Ask is a call that is to be made.
type Ask struct {
	// ID names the call, and Attempt which try of it this is. The same of both is
	// the same reservation: it is answered as it stands and takes nothing again.
	ID      string
	Attempt int64
	// Tenant is on whose behalf, for whoever looks.
	Tenant string
	// Budgets are all that apply, at most BudgetsMax.
	Budgets []Ref
	// Amounts is what it takes at most, as far as can be told.
	Amounts quota.Amounts
}

// Bounds of what a row may hold.
const (
	NameMax     = quota.NameMax
	EvidenceMax = 4096
	BudgetsMax  = quota.BudgetsMax
)

// Call is one attempt as the ledger has it.
type Call struct {
	ID string
	quota.Reservation
	Tenant string
	// Owner is the process that made it.
	Owner string
	// Budgets are the names of those it took of, and Charged what it has cost each
	// of them so far, less what was given back.
	Budgets []string
	Charged []int64
	// Used is what it used, once that is known.
	Used quota.Amounts
	// Evidence is how it is known, or why it is not.
	Evidence string
}

// Grant is what an ask was answered.
type Grant struct {
	// Verdict is OK if the call may be started.
	quota.Verdict
	// Budget is the name of the budget that refuses.
	Budget string
	// Again says that the attempt was there already, in State: it was asked before,
	// and nothing was taken for it now.
	Again bool
	State quota.State
}

// Errors of a ledger. What quota says of a reservation is passed on as it is.
var (
	// ErrUnavailable: the store has failed, or is closed. Nothing was changed, unless
	// the error is ErrUncertain too.
	ErrUnavailable = errors.New("the ledger is not available")
	// ErrUncertain: the store was lost while it committed, so that nobody knows
	// whether it did. The same asked again tells.
	ErrUncertain = errors.New("it is not known whether it was committed")
	// ErrNoCall: there is no such attempt.
	ErrNoCall = errors.New("there is no such call")
	// ErrOther: the attempt is there, with other budgets or amounts.
	ErrOther = errors.New("the attempt is there with another ask")
)
