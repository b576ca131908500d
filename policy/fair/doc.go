// Package fair decides which tenant is served next.
//
// It knows flows, not requests: a [Flow] is a tenant's place in the schedule,
// there only while the tenant has something waiting. What order the tenant's
// own requests leave in is the waiting room's affair (policy/pool).
//
//	fifo       one queue for all: the order of arrival decides, tenants do not
//	priority   the tenant named first in the configuration, always
//	rr         round robin: one request each in turn
//	wrr        weighted: as many requests in a turn as the tenant's weight
//	drr        deficit round robin: as much cost in a turn as weight x quantum
//
// The three round robins are one mechanism, [Ring]. Its deficits may go below
// zero, which is why it need not know a request's cost before it is picked
// (surplus round robin, and the scheduler of RFC 8290 section 4.2): a flow is
// served while its deficit is positive, and pays afterwards. The true cost,
// known when the work ends, is settled with [Ring.Correct].
//
// # Fairness bound
//
// Over any interval in which two flows i and j both wait all the time, the
// service they receive, in cost per weight, differs by at most
//
//	|S_i/w_i - S_j/w_j| <= quantum + 2 x costMax
//
// (Shreedhar and Varghese, "Efficient fair queuing using deficit round
// robin", SIGCOMM 1995, lemma 2, which holds for the surplus form as well).
// With the quantum equal to the largest cost this is 3 x costMax; for rr and
// wrr, where every request costs 1, it is 3 requests per unit of weight. A
// property test holds the ring to it. Costs that are corrected afterwards
// widen it by the largest error times the number of calls in flight.
//
// # Credit
//
// An idle flow saves nothing up: it leaves with its credit forfeited. It does
// not leave its debt behind either, as long as anyone waits. Once nobody
// waits, there is nobody to owe and all debts are void.
package fair
