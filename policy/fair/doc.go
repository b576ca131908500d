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
//	drr        deficit round robin: as much cost in a turn as the tenant's weight
//
// [Ring] is rr and wrr, where a request is a request. [Deficit] is drr, where
// requests cost unequally: it need not know a request's cost before it is
// picked, because a turn may be overdrawn and is paid for afterwards (surplus
// round robin, as in the scheduler of RFC 8290 section 4.2), and the true cost,
// known when the work ends, is settled with [Scheduler.Correct]. [Ranks] is
// priority.
//
// # Fairness bound
//
// Over any interval in which two flows i and j both wait all the time and keep
// their weights w, the service S they receive differs by at most
//
//	|S_i/w_i - S_j/w_j| <= 2                           requests, rr and wrr
//	|S_i/w_i - S_j/w_j| <= 2 + c_i/w_i + c_j/w_j       cost, drr
//
// where c_i is the largest cost of flow i's own requests. The textbook's
// deficit round robin (Shreedhar and Varghese, SIGCOMM 1995) is held to three
// times the largest cost of anybody: its quantum has to be that large to take
// constant time, so that one tenant's single huge request lengthens everybody's
// turns. Here the quantum is 1 and rounds in which nobody could be served are
// skipped, not walked through: O(log n) for n waiting tenants, and a tenant's
// costs are nobody else's affair. Property tests hold both to their bound. Costs
// that are corrected afterwards widen drr's by the largest error times the
// number of calls in flight.
//
// # Credit
//
// An idle flow saves nothing up: it leaves with its credit forfeited. Nor does
// it leave its debt behind by leaving: it stays due until the others have been
// served as much. Once nobody waits, there is nobody to owe and all debts are
// void.
package fair
