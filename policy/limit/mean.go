package limit

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// meanWindow is the window over which the published laws are fed a mean instead of
// single latencies, as Netflix's WindowedLimit feeds them; it has a second, in
// which a law that moves once a window hardly moves at all.
const (
	meanWindow  = 100 * time.Millisecond
	meanSamples = 10
)

// windowed gathers a mean latency.
type windowed struct {
	began   unit.Instant
	n, most int
	sum     float64
	drops   int
}

// add takes a sample in and reports whether the window is full.
func (w *windowed) add(now unit.Instant, s *Sample) bool {
	switch s.says() {
	case answered:
		w.n++
		w.sum += float64(max(s.Held, 0))
		w.most = max(w.most, s.Running)
	case dropped:
		w.drops++
	default:
		return false
	}
	if w.n+w.drops == 1 {
		w.began = now
	}
	return w.n+w.drops >= meanSamples && now.Sub(w.began) >= meanWindow
}

// take empties the window.
func (w *windowed) take() (latency float64, most, drops int) {
	if w.n > 0 {
		latency = w.sum / float64(w.n)
	}
	most, drops = w.most, w.drops
	*w = windowed{}
	return latency, most, drops
}
