// Command admission measures what admission costs a proxied request: the
// gateway against the same engine without it, both in this one process, with
// the same upstream and the same callers:
//
//	go run ./admission              # exit 3 if it is more than 5 us
//
// Callers send blocks of requests to the one and to the other in turn (A B B A),
// and the processor time of the whole process is read around each block. What
// callers, kernel and upstream cost is the same on both sides and falls out of
// the difference; what is left is admission with all that hangs on it:
// classification, gate, deadline, hand-over, metrics, headers of its own.
package main
