// Package limit says how many requests may hold a slot of a resource at once.
//
// A limit belongs to the resource, not to a class: one control loop however
// many classes use it. [Fixed] is the operator's own figure; behind the same
// interface stand laws that follow what is measured:
//
//	Knee       spillway's own, and what "adaptive" means where nothing else is
//	           said: it finds the number beyond which more at once no longer
//	           gives more a second, and holds the limit there
//	AIMD, Vegas, Gradient2, MinRTT
//	           published ones, written from their descriptions, to be compared
//	           with; each names its source
//
// # What is a sample
//
// The time to an answer's first byte: a stream of an hour says no more than a
// call of a millisecond. Refusals, cached answers, and callers who hang up are
// none. What does not answer in time is a drop; what fails says nothing of how long
// calls take.
//
// # Cost
//
// A sample takes some ten nanoseconds and allocates nothing. What is learned is a
// few hundred bytes a resource. Nothing here is safe for concurrent use.
package limit
