package quota

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Reconcile is when calls that are unknown may be ended without anybody's hand: a
// record outside, the provider's own, is asked about each that has been unknown for
// After, and again every After while it cannot tell. The zero Reconcile is off.
//
// The record has to be one in which a call stands as soon as it has come: After is how
// long it may lag behind. What it does not know by then never ran.
type Reconcile struct{ After time.Duration }

// Recorded is what a record outside says of a call.
type Recorded uint8

// What it can say.
const (
	CannotTell Recorded = iota // no answer, or one that says neither
	Running                    // it came, and runs still
	Ended                      // it ran, and has ended
	Absent                     // it never came
)

// Ask returns when a call is to be asked about that is unknown since an instant, and was
// last asked about at another (0: never), both of Time.Run; unit.Never if it is not to
// be.
func (r Reconcile) Ask(since, asked unit.Instant) unit.Instant {
	if r.After <= 0 {
		return unit.Never
	}
	return max(since, asked).Add(r.After)
}

// Ends reports whether what a record says of a call that is unknown ends it: whether it
// has ended, and if so whether it never ran. Anything short of that leaves it as it is.
func (r Reconcile) Ends(said Recorded) (ends, notStarted bool) {
	return r.After > 0 && said >= Ended, said == Absent
}
