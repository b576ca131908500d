package ladder

import "time"

// ReserveDefault is what is kept back of a deadline where nothing is said: ample for
// an answer out of memory on a busy machine.
const ReserveDefault = 2 * time.Millisecond

// InTime returns what of the time left a request may wait and be served in that is
// to be answered, if need be by a stand-in, before it is over: less by the reserve,
// and at least half of it.
func InTime(left, reserve time.Duration) time.Duration {
	return left - min(max(reserve, 0), max(left/2, 0))
}
