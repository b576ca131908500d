//go:build !(linux || freebsd || netbsd || openbsd || dragonfly)

package load

import "time"

// sleepUntil returns at the instant, or at once if it has passed.
func sleepUntil(due time.Time) { time.Sleep(time.Until(due)) }
