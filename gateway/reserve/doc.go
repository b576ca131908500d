// Package reserve has gates reserve in a ledger: it is what a gate.Reserver asks a
// ledger, and what it makes of the ledger's answers.
//
//	reserved          the request may be started
//	refused           by which budget, and when that would fit
//	not available     reason ledger_unavailable: without a reservation no call is made
//	nobody knows      whether a reservation was committed: not available, and what may
//	                  have been taken is given back as soon as the ledger can be asked
//
// What became of a call is told until the ledger has heard it, however long that takes:
// nothing else frees its slot. If the process ends before, the ledger finds out by the
// start marker alone what its death means.
package reserve
