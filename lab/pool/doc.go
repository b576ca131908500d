// Package pool is the experiment about the submission boundary of a worker
// pool: what waits, for how long, who is turned away and what a refusal does to
// those who made it.
//
//	bound-*      how large a waiting room should be
//	shared, pools, pools-borrow   one pool for all, or one a class
//	full-*       what becomes of an arrival that finds no place
//	deadline-*   work for callers who have left
//	order-*      who goes first under lasting overload
//	producers-*  what refused producers do, and what that does to the pool
//	nested-*     retries at every layer
//	outward-*    the boundary further out: at the edge, at a door that knows
//	             latency alone, at a balancer that is told who sheds, by a
//	             cheaper answer
//
// [Run] plays a list of arms and returns a [Document]. Every arm is a scenario
// of package sim, save full-block, in which three machines stand in a row
// (stages.go): there as everywhere the machines decide and the lab only tells
// them what has happened.
package pool
