// Package fallback is the experiment about a service whose dependency is slow:
// what to answer, how often to ask again, and what asking again does to the
// dependency.
//
// A prediction service looks something up in a store for each request. The store
// has 16 slots and a line without end. Arms are named by waits and rate: F3 is
// fixed waits at 300/s, L the long tail, H the tail with 1 lookup in 100 that
// freezes for 1 to 2 s, 4 is 450/s.
//
//	none        waits as long as it takes
//	t10 ...     a limit, then an error
//	fb25        a limit, then a stand-in
//	dl, dldown  one deadline; dldown's goes along with the lookup, which stops at it
//	r2, ...     up to two retries; with a budget (b10), a token bucket, pauses
//	hedge       a second ask beside a first that is slow
//	L4-busy-*   all lookups slow together, L4-customer-* one customer's always,
//	L4-apart-*, L4-together-* two copies of the store
//
// [Run] plays a list of arms and returns a [Document]. Every arm is a scenario of
// package sim/store: how the service behaves is decided by policy/call, and by
// policy/boundary where the store is protected. The dice are the same in every
// arm. Arms that are played otherwise (live, or with a price on stand-ins) add
// their part to the Document.
//
//	setting.go, arms.go, predict.go   what is played, and what is expected of it
//	round.go, record.go               one round, and its figures
//	run.go                            all of them
//	tipping.go, compare.go, timeline.go, follow.go, best.go   what is made of them
package fallback
