// Package fair is the experiment about a noisy tenant in a fixed service
// window: three tenants, one of whom offers five times what the others do, all
// at the same instant; so many slots; a deadline at and after which nothing
// starts. Who is served is then decided by the fairness policy alone.
//
// [Run] plays a list of arms and returns a [Document]; [Table] are the arms
// whose results are known beforehand, [More] those beyond them: unequal costs,
// random arrivals, many tenants, weights that change.
//
// The machine is held back (boundary.Class.Held) while the requests of the
// first instant are offered, so that their order of arrival decides nothing but
// fifo. The feasibility check is off, and the deadline is one for starting. A
// register recognises retries that carry the key of work already offered: it
// stands in for the ledger, which is where keys will be kept.
package fair
