// Package ladder decides which cheaper answer a request gets when it does not get
// the primary one, and under which name and reason that answer goes out.
//
// A [Ladder] is the order of a class's rungs, written down before anything is slow.
// A [Descent] is one request's way down it. A driver reports facts and does what
// the [Step] it gets back says:
//
//	Descend   the primary did not answer, for a reason   -> a rung to try, or a refusal
//	Missed    that rung has nothing for this request     -> the next, or a refusal
//	Full      that rung has no room of its own           -> the next, or a refusal
//
// Whoever answers in the end, the reason stays the first: why the answer is not
// the full one. What became of the rungs in between says nothing of that.
//
// # Which reasons step down
//
// [Steps] is the table. In words: our own want of capacity, a tenant's or a
// quota's bound, a wait that ended for nothing, and a call that failed each step
// down. A limit on how often one caller may ask does not (a stand-in would make
// it worth asking), nor does what is wrong with the request itself, what was thrown
// away on purpose, a gateway that is going away, a ledger that must fail closed,
// or a caller who has gone.
//
// A Ladder is never changed once made and safe for concurrent use. A Descent is a
// value with one owner; no call allocates.
package ladder
