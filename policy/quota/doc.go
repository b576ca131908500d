// Package quota is the arithmetic of what may be spent per time: requests,
// tokens, money, calls at once. Of a provider, of a tenant; of several that
// all apply.
//
//	Limit        what may be spent: a bucket, a calendar window, or slots
//	Budget       the state of one limit, a value that a store keeps in a row
//	Decide       one ask against every budget that applies: all or nothing
//	Reservation  what was taken, from its dispatch to what became of it
//
// # One decision
//
// All budgets that apply must have room; with one that has none the ask is
// refused, and a refusal changes no budget, not even its clock. It names the
// budget that has room last and the instant at which it will, unless somebody
// else comes first. What exceeds a limit itself can never have room: that is no
// matter of time, and the verdict says so ([Verdict.Never]).
//
// # What is known of a call
//
//	reserved --start--> started --settle--> settled     (used is known: the slot is free)
//	    |                  |
//	    |                  +----lose-----> unknown --settle, resolve--> settled
//	    +-----release----> released         (it provably never started)
//
// Unknown is a state that ends only by evidence: the slot stays taken and the
// credits stay spent, however long that takes. A store that frees it by a clock
// lets a call run that nobody counts. What an owner's death says depends on the
// start marker alone: without it the call never left, with it nobody knows
// ([Reservation.Orphan]).
//
// # The law of a bucket
//
// A bucket holds at most Most units and gains Refill of them every Every, to the
// fraction: what does not fill a whole unit is kept (Budget.Part), so that 0.3 a
// second polled ten times a second is 0.3 a second. Over any time t no more than
// Most + Refill x t / Every is taken, plus what calls used beyond their estimate.
//
// # Time
//
// A store has two clocks, and trusts neither ([Time]). Buckets go by one that only
// adds up what passes: a clock that steps back credits nothing, one that steps
// forward at most one burst. Windows go by the calendar: a step back gives none
// twice, a step forward gives one early.
//
// A decision takes constant time for each budget, some nanoseconds, and allocates
// nothing. Nothing here is safe for concurrent use; a store calls it inside its
// transaction, on rows that it holds.
package quota
