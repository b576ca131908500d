// Package pool is a class's share of a resource: its slots, and its waiting
// room with a bound, an order and a rule for when it is full.
//
//	Slots     how many may run; what may be borrowed of idle neighbours
//	Room      who waits: bounded in requests and in bytes, by tenant and in all
//	Tenants   who is told apart from whom, remembered while active
//	Pool      the three together, with the measurements that size them
//
// The room's bound is derived, not guessed: allowed wait x throughput
// (policy/plan), re-derived as the measured holding time moves, and cut to
// what memory allows. A longer queue would not be headroom; it would be a
// longer time of being saturated unnoticed.
//
// A pool decides nothing about a request's way as a whole; policy/boundary
// composes it with the rest. Nothing here is safe for concurrent use. Memory
// is bounded by configuration: requests by slots and bounds, tenants by the
// number that wait or run, plus a fixed number of idle ones.
package pool
