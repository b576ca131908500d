// Package boundary is the whole way of a request through one resource, as one
// machine composed of the rooms beside it. The live gate and the simulator
// drive this machine and decide nothing themselves.
//
// # Events
//
// A driver reports what happened, with the instant at which it did:
//
//	Offer      a request asks to be served           -> Run, Wait or Refuse
//	Leave      its caller is gone
//	Answered   the first byte of its answer is out: the deadline has been met
//	Linger     its answer keeps only its caller busy
//	Abandon    its caller was answered, the work goes on
//	Done       its work has ended, the slot is free
//	Reserved, NotReserved   what the store of its quotas has answered; see quota.go
//	Settled    the store knows what became of a reservation
//	Advance    time has passed
//	Drain      nothing new is to be taken in
//	Reconfigure
//	Operate    an operator switches a class by hand, until an instant
//	Press      how short the process is of memory and the like
//
// Each event first brings the machine up to its instant: what was due by then
// happens then, in the order of the instants at which it was due, so that it
// makes no difference whether a driver's timer or the event itself came first.
// What an event brings about for other requests is appended to Effects, in the
// order in which it is to be carried out. [Machine.Next] then tells the
// earliest instant at which anything could change by itself, for one timer.
//
// Instants must not run backwards; one that does is taken as the latest seen.
//
// # The way
//
//	edge      has this client asked too much
//	admit     is the deadline still ahead, and can it be met; has the room a
//	          place, for this tenant and in all, in requests and in bytes
//	          and of its class's quotas, can it have them inside its deadline
//	wait      until the fairness policy and the order say it is next; what
//	          expires meanwhile is answered and never run
//	reserve   with a slot, while what it needs of its quotas is asked for; who does not
//	          get it goes back to its place, holding nothing
//	call      with a slot, until done; a deadline that passes answers the
//	          caller, the work keeps its slot until it ends
//
// # The account
//
// For every class and every tenant, after every event: offered is the sum of
// all that was answered, by reason, plus waiting plus running. Check verifies
// it, together with all that may never be: a waiter beside a free slot, a slot
// that nobody holds, a sum that does not close.
//
// # Cost
//
// An offer or an end takes constant time, plus O(log n) on the agenda of
// deadlines where these do not come in order, n being what waits and runs, and
// allocates nothing once the machine has reached its size. Its memory is bounded by configuration. It is
// not safe for concurrent use.
package boundary
