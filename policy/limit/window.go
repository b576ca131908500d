package limit

import "github.com/spillway-dev/spillway/policy/unit"

// window is what ended at one level of the limit: a mean rests on enough calls to
// be believed, and on none that began under another level.
type window struct {
	n, drops, failed int32
	need             int32   // of them, for what they tell to be believed
	running          int64   // summed over the answered
	x, base          float64 // nanoseconds: what calls took, and what their baselines are
	xx, xb, bb       float64 // sums of squares and products of the two
	last             unit.Instant
	touched          bool // the limit was all in use
}

func (w *window) ended() int32 { return w.n + w.drops + w.failed }

// latency is how long calls took, in units of their baselines. It is the ratio of two
// sums, not the mean of ratios: by Little's law that is what is in flight beside what
// would be if none waited.
func (w *window) latency() float64 { return w.x / w.base }

// inFlight is how many ran when a call ended, in the mean.
func (w *window) inFlight() float64 { return float64(w.running) / float64(w.n) }

// turn is how long a call took, in nanoseconds.
func (w *window) turn() float64 { return w.x / float64(w.n) }

// add takes in a call and its baseline.
func (w *window) add(x, baseline float64) {
	w.n++
	w.x += x
	w.base += baseline
	w.xx += float64(x * x)
	w.xb += float64(x * baseline)
	w.bb += float64(baseline * baseline)
}

// variance is that of the latency that one call shows: of n it is the nth part.
func (w *window) variance() float64 {
	ratio := w.latency()
	rest := w.xx - float64(2*ratio*w.xb) + float64(ratio*ratio*w.bb)
	return float64(max(rest, 0)*float64(w.n)) / float64(w.x*w.x)
}
