//go:build linux || freebsd || netbsd || openbsd || dragonfly

package load

import (
	"syscall"
	"time"
)

// sleepUntil blocks the calling thread, not only the goroutine, until the
// instant: the kernel's timers are 50 µs late where Go's, which wait for a
// processor to be free, can be a millisecond. It returns at once if the instant
// has passed.
func sleepUntil(due time.Time) {
	for left := time.Until(due); left > 0; left = time.Until(due) {
		// A signal wakes early: ask again.
		request := syscall.NsecToTimespec(int64(left))
		_ = syscall.Nanosleep(&request, nil)
	}
}
