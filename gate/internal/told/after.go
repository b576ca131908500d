package told

import (
	"math/rand/v2"
	"time"
)

// After returns the hint in whole milliseconds, rounded up, at least one, so
// that every way of saying it says the same. For a refusal that has none (it did
// not come from the calendar) it is one of between one and two seconds, so that
// callers who fail together do not come back together.
func After(d time.Duration) time.Duration {
	if d <= 0 {
		d = time.Second + rand.N(time.Second)
	}
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}
