// Package scale says how much capacity what is offered would take: the figure that an
// autoscaler or a load balancer should go by.
//
//	Config    how far a resource is to be used, and how fast the figure may fall
//	Signal    the figure of one resource: Look at it a few times a second
//	Weight    the share of its usual traffic that a copy says it can take
//
// # Why not what is served
//
// A service that refuses looks calm: its processor is busy with no more than it has
// slots, its requests per second are those that fit, and where its own dependency is out
// it looks idle. An autoscaler that goes by either takes capacity away just before the
// load comes back. The figure here is made of what is *offered*, refused and degraded
// included, and is not believed while nothing can be measured.
//
// # The law
//
//	demand  = offered a second x mean holding time         (Little)
//	desired = demand / utilisation
//
// in slots. It rises with the mean of the latest Rise, at once where that is little; it
// falls only to the highest of the latest Fall, so that a pause between two bursts gives
// nothing away. While the resource is in an outage (it fails, or a breaker keeps everybody
// off) its holding times say nothing of what its work takes, and callers who give up say
// nothing of how many will be back: for up to Hold the figure stays where it was and says
// that it is not measured.
//
// Everything takes constant time, allocates nothing, and is not safe for concurrent use.
package scale
