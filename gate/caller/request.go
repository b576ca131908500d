package caller

import (
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Request is what a Caller is told of a call. The zero value is one that must not
// run twice.
type Request struct {
	// Timeout is how long the answer may take at most, all attempts and pauses
	// included; 0: as long as the context lets it. The sooner of the two governs.
	Timeout time.Duration
	// Idempotent: doing it twice is doing it once.
	Idempotent bool
	// Keyed: an idempotency key travels with it that the dependency honours.
	Keyed bool
	// Key is that key; "": one is made when an attempt asks for it.
	Key string
	// Fixed: it cannot be sent again, for what it sends is gone once it is sent.
	Fixed bool
	// Dice draws the call's chance, so that two runs of the same call meet the same;
	// 0: the Caller's own.
	Dice uint64
}

func (r *Request) policy(deadline unit.Instant) call.Request {
	return call.Request{
		Deadline: deadline, Idempotent: r.Idempotent, Keyed: r.Keyed, Fixed: r.Fixed, Dice: r.Dice,
	}
}

// twice reports whether two attempts may run at once.
func (r *Request) twice() bool { return (r.Idempotent || r.Keyed) && !r.Fixed }
