// Package live plays rounds of lab fallback with real processes, sockets and clocks.
//
//	tester    offers the round's arrivals, open loop, through so many senders, and
//	          checks every answer
//	service   asks the store under a call.Policy, by gate/caller, scores what it
//	          says, or takes a stand-in (gate/standin)
//	store     slots and one line, first come first served; a lookup holds its slot for
//	          the wait that was drawn for its request and attempt
//
// Arrivals, waits and pauses are those of sim/store's Draws, so that a round has the same
// dice here and in virtual time. [Bench.Play] hands the same records to a store.Watch as
// store.Run does: whoever makes figures of them does not know which of the two it was.
//
//	bench := live.NewBench(func(part string) *exec.Cmd { return exec.Command(self, "part", part) })
//	facts, err := bench.Play(ctx, round, watch)
//
// Processes are fresh in each round and end with it: see lab/parts.
//
// # What is real and what is not
//
// Real are processes, scheduler, loopback connections, timers, the caller with its lock,
// contexts and goroutines. The store's waits are slept, and so is Round.Rest, for scoring is
// a few multiplications here and not what the lab is about. A lookup is never cancelled:
// lookups share one connection, and the store does not hear that its caller has gone.
//
// Before a round the machine is watched until it has been idle for two seconds, a few
// times; [Facts] says whether it was. A second of warm-up, under a policy of its own,
// is not counted. Instants of different processes are compared, which holds on one
// machine whose clock is not set between the start of two of them.
package live
