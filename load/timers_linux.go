package load

import "golang.org/x/sys/unix"

// sharpenTimers takes the slack from the calling thread's timers: the kernel
// may otherwise wake it 50 µs late to save energy.
func sharpenTimers() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }
