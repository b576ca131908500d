// Package spread decides which copy of an upstream takes the next request, and
// which copies are left out for a while.
//
// A [Spread] is told of copies that come and go ([Spread.Add], [Spread.Drain]),
// of requests that a copy was given and has ended ([Spread.Take],
// [Spread.Done]), of what came of them ([Spread.Judge]) and of checks that
// somebody else makes ([Spread.Checked]). It answers one question, whose turn
// it is, in time proportional to the copies and without allocating. It is not
// safe for concurrent use.
//
// # Whose turn
//
// The least loaded of the copies that are in and not saturated, for its weight
// ([Spread.Weigh]); among equals the next in turn, or where weights differ the one that
// has had the fewest turns for its own. So weights hold when little is in flight as
// well as when much is. Load is what a copy has in flight. What failed or was turned
// away by it within the last second or so counts as load too: a copy that fails
// fast has little in flight, and would else draw all the traffic. If all are
// saturated the least loaded is taken all the same, for what may run is the
// gate's to decide, and it has decided. A copy is saturated at the part of
// Config.Slots that falls to its weight; one of weight 0 rests.
//
// # Who is left out
//
// A copy is bad when so many calls in a row failed, when a share of its recent
// calls did, or when checks say so. An answer that says "too busy" is no
// failure: leaving out a copy that sheds load would hand its load to the next,
// which sheds then. A call that passed its deadline is one only if it took far
// longer than answered calls do, so that callers who allow no time cannot have
// copies ejected.
//
// A bad copy is out, but never more copies than a share of all (the floor): of
// more bad ones, those that turned bad first are out. When all are bad the fault
// is likely somewhere else, and all are used (panic mode).
//
// A copy that was ejected is tried again after a time that grows with each
// repeat; then its first failure sends it out again. Where it is used although
// bad, answers in a row bring it back sooner. A copy that returns, or is new, gets a
// growing part of its turns for as long as it was out (slow start): its caches
// are cold, and those who waited for it must not be what takes it down again.
package spread
