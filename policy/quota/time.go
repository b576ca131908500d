package quota

import (
	"math"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Time is when something happens, by the two clocks of a store.
type Time struct {
	// Run adds up what passes, whatever the store's clock is set to: it never runs
	// back and need not agree with the calendar. Buckets refill by it.
	Run unit.Instant
	// Wall is what the calendar says, in nanoseconds since 1970, and may be wrong.
	// Windows end by it.
	Wall unit.Instant
}

// Forever is longer than anything that ends.
const Forever time.Duration = math.MaxInt64
