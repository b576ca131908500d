// Package plan is the arithmetic that is done before anything runs: how many
// may wait, what a resource sustains, which constraint binds, how often one
// request can be multiplied by retries, and where a config tips over.
//
// Start with three things:
//
//   - [Bound] sizes a waiting room: allowed wait x throughput, cut to memory,
//     with the reason for the value. It is the one implementation; the live
//     waiting room calls it at every re-derivation and the plan prints it.
//   - The helpers of little.go ([Throughput], [InSystem], [FillTime],
//     [Amplification], [StableBelow], ...) are single formulas, usable alone.
//   - [Make] applies them to a whole config, given as an [Input] of plain Go
//     values, and answers with a [Plan]: the figures, each with the formula and
//     the assumption it rests on, and warnings in plain words with the fix.
//
// # What the figures are, and are not
//
// All of it is arithmetic on means. It says which side of a border a config is
// on; it says nothing of tails, and little about what happens close to the
// border (the simulator does). Every [Figure] carries its assumption so that it
// is read together with it.
//
// # Regimes of an upstream under retries
//
//	sustainable = slots / mean time a call holds one        (Little's law)
//	stable below  sustainable / min(attempts, 1 + budget)   returns by itself after any trigger
//	metastable below sustainable                            fine until one bad second, then stuck
//	unstable from sustainable on                            the backlog grows without end
//
// The border is Bronson et al., "Metastable Failures in Distributed Systems"
// (HotOS 2021): when every attempt fails, a request becomes that many calls. A hedge
// adds to them as far as its budget goes. A call holds its slot to its end, unless the
// upstream stops at the deadline that travels to it ([HoldUpTo]); that moves both
// borders by more than any budget. What an outage leaves behind is [Recovery] where
// dead work is not run, and [RecoveryInOrder], perhaps for ever, where it is.
//
// # Properties
//
// Everything here is a pure function of its arguments: no clock, no state, safe
// for concurrent use. Every function is total: NaN, infinities, zero, negative
// and absurd values give a defined answer, and Make warns of them. The same
// input gives the same bytes on every processor; products that enter a sum are
// wrapped in float64() so that none is fused.
package plan
