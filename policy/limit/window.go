package limit

import "github.com/spillway-dev/spillway/policy/unit"

// window is what ended at one level of the limit: a mean rests on enough calls to
// be believed, and on none that began under another level.
type window struct {
	n, drops, failed int32
	running          int64   // summed over the answered
	x, xx            float64 // latency in units of the baseline, and its square
	held             float64 // nanoseconds
	last             unit.Instant
	touched          bool // the limit was all in use
}

func (w *window) ended() int32 { return w.n + w.drops + w.failed }

// latency is how long calls took, in units of their baselines.
func (w *window) latency() float64 { return w.x / float64(w.n) }

// inFlight is how many ran when a call ended, in the mean.
func (w *window) inFlight() float64 { return float64(w.running) / float64(w.n) }

// variance is that of a call, in units of the mean's square.
func (w *window) variance() float64 {
	mean := w.latency()
	square := float64(mean * mean)
	return max(w.xx/float64(w.n)-square, 0) / square
}
