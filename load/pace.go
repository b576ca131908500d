package load

import (
	"context"
	"runtime"
	"time"
)

// Pace calls fire with the index of each instant of a schedule, counted from start,
// when it has come, and returns whether it got to the end before ctx. It is for
// drivers that speak another protocol than HTTP and want this package's punctuality:
// it keeps a thread of the operating system for itself, which sleeps in the kernel.
// Call it on a goroutine of its own, which must end afterwards; fire must be quick.
// Instants must not fall; those that have passed fire at once.
func Pace(ctx context.Context, start time.Time, schedule []time.Duration, fire func(i int)) bool {
	runtime.LockOSThread() // never unlocked: the thread's timers are not what others expect
	sharpenThread()
	for i, at := range schedule {
		if !sleep(ctx, start.Add(at)) {
			return false
		}
		fire(i)
	}
	return true
}
