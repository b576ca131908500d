// Package ledger is what has been promised, kept so that no crash forgets it:
// which calls have taken what of which budgets, and what is known of each.
//
//	Ledger    one gateway's way to it: reserve, start, settle, lose, release
//	Store     where rows are kept; ledger/sqlite is one
//	Rows      what a transaction sees
//
// The arithmetic of a decision is policy/quota's. The ledger loads the budgets
// that a call needs, asks it, and writes what has changed, all in one transaction
// of the store: whoever is told that a call may be sent has its reservation on
// disk.
//
// # Transactions
//
//	Reserve   every budget that applies, and the attempt
//	Start     the marker without which a call never left
//	Settle    what it used; its slot is free
//	Lose      nobody knows what became of it; its slot stays taken
//	Release   it never started
//
// Each is one transaction; nothing waits while holding. They are not one with the
// provider's: a crash between any two leaves a state that says which evidence
// there is. What an owner that died had reserved is released, what it had started
// is unknown at once ([Ledger.Orphan]); what is unknown ends by an answer that
// turns up late or by somebody who brings evidence ([Ledger.Reconcile]), never by
// a clock.
//
// # One writer
//
// A store syncs once a transaction, which is what a transaction costs. So those
// that wait at the same moment share one: a goroutine takes all that are there, up
// to a bound, decides them in the order in which they came, and commits once.
// Each is told its own verdict when its rows are on disk. If the commit fails
// nothing has happened for any of them and each is told [ErrUnavailable]: without
// a reservation no call is made.
//
// # Several processes
//
// The quotas are the ledger's, with a version: [Ledger.Configure] brings a file's, and
// they are refused, adopted or put in the place of those that are there, which counts
// for every process at once. [Ledger.Join] has a process count as alive; who says
// nothing any more is removed by the others, by no clock that is set, and what it has
// left is ended as the dead's. [Ledger.Resolve] asks a record outside about what is
// unknown. A [Leaser] decides from credit that its process holds of large budgets.
//
// # Audit
//
// [Ledger.Audit] adds every counter up again from the calls and says which does
// not agree. It runs when a ledger is opened.
//
// A Ledger is safe for concurrent use.
package ledger
