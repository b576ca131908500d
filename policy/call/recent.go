package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// recentSteps is in how many steps a breaker's window slides.
const recentSteps = 10

// recent counts what attempts of a sliding window came to: the last nine to ten
// steps. The zero value with a width is empty.
type recent struct {
	width time.Duration // of a step
	end   unit.Instant  // of the newest step
	at    int           // its place
	sum   counts
	steps [recentSteps]counts
}

type counts struct{ calls, failed, slow int64 }

func (r *recent) add(now unit.Instant, failed, slow bool) {
	r.slide(now)
	s := &r.steps[r.at]
	s.calls++
	r.sum.calls++
	if failed {
		s.failed++
		r.sum.failed++
	}
	if slow {
		s.slow++
		r.sum.slow++
	}
}

func (r *recent) sums(now unit.Instant) (calls, failed, slow int64) {
	r.slide(now)
	return r.sum.calls, r.sum.failed, r.sum.slow
}

// slide forgets the steps that have left the window. A clock that steps back
// moves nothing.
func (r *recent) slide(now unit.Instant) {
	if now >= r.end {
		r.forget(now)
	}
}

func (r *recent) forget(now unit.Instant) {
	if now.Sub(r.end) >= r.width*recentSteps {
		*r = recent{width: r.width, end: now.Add(r.width)}
		return
	}
	for r.end <= now {
		r.end = r.end.Add(r.width)
		r.at = (r.at + 1) % recentSteps
		old := &r.steps[r.at]
		r.sum.calls -= old.calls
		r.sum.failed -= old.failed
		r.sum.slow -= old.slow
		*old = counts{}
	}
}
