// Package desk is what an operator asks of a ledger, and what he is answered: lists,
// one call, an audit, and the end of what is unknown by evidence. The command works by
// it on a store that no gateway has open, and the gateway's admin listener on its own
// ledger, so that both say the same.
//
//	Ls         budgets, open calls, who writes, which quotas count
//	Show       every attempt of a call
//	Audit      every counter, added up again
//	Reconcile  what is unknown ends, by evidence
//
// A question is a url.Values, as it comes over the admin listener; an answer is a
// document in JSON that can also be written as text. Whatever callers have named
// things is written with what cannot be shown left out.
//
// There is no question that deletes: see docs/ledger.md.
package desk
