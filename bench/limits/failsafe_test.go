package limits

import (
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"

	lab "github.com/spillway-dev/spillway/lab/limits"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// failsafe is failsafe-go's adaptive limiter: every call that starts takes a permit
// of it, and gives it back when it ends, as its documentation says. The room before it
// is the experiment's, the same for all; its own queue is off, as it is by default.
type failsafe struct {
	bubble
	limiter adaptivelimiter.AdaptiveLimiter[any]
	// permits by the instant at which they were taken: those of one instant are alike.
	permits map[unit.Instant][]adaptivelimiter.Permit
	missed  int // calls that ran without one
}

// newFailsafe returns one between the bounds that all laws have here, where its own
// default is 200 at most; a window of 0 is its own of a second.
func newFailsafe(c limit.Config, window time.Duration) *failsafe {
	b := adaptivelimiter.NewBuilder[any]().WithLimits(uint(c.Floor), uint(c.Ceiling), uint(c.Start))
	if window > 0 {
		b = b.WithRecentWindow(window, 30*time.Second, 50)
	}
	return &failsafe{bubble: newBubble(), limiter: b.Build(), permits: map[unit.Instant][]adaptivelimiter.Permit{}}
}

// event takes permits for those who start.
func (f *failsafe) event(e boundary.Event) {
	if e.Verdict.Kind == boundary.Run && e.Kind == boundary.Offered {
		f.start(e.At)
	}
	for _, effect := range e.Effects {
		if effect.Kind == boundary.Run {
			f.start(e.At)
		}
	}
}

func (f *failsafe) start(at unit.Instant) {
	f.passTo(at)
	p, ok := f.limiter.TryAcquirePermit()
	if !ok {
		f.missed++
		return
	}
	f.permits[at] = append(f.permits[at], p)
}

// Limit returns its limit.
func (f *failsafe) Limit() int { return max(f.limiter.Limit(), 1) }

// Ended gives a permit back: what does not answer in time is dropped, as its executor
// does with what was cancelled.
func (f *failsafe) Ended(now unit.Instant, s limit.Sample) {
	f.passTo(now)
	at := now - unit.Instant(s.Held)
	all := f.permits[at]
	if len(all) == 0 {
		return
	}
	p := all[len(all)-1]
	if f.permits[at] = all[:len(all)-1]; len(all) == 1 {
		delete(f.permits, at)
	}
	if s.Outcome == reason.Served || s.Outcome == reason.Accepted {
		p.Record()
	} else {
		p.Drop()
	}
}

// State returns what there is to see.
func (f *failsafe) State() limit.State {
	return limit.State{Law: limit.Foreign, Limit: f.Limit(), Doing: "steady"}
}

// Export returns its limit; nothing can be taken over.
func (f *failsafe) Export() limit.Measured { return limit.Measured{Limit: float64(f.Limit())} }

// Import changes nothing.
func (f *failsafe) Import(limit.Measured) {}

// bubble moves the bubble's clock along with the simulation's.
type bubble struct{ began time.Time }

func newBubble() bubble { return bubble{time.Now()} }

func (b bubble) passTo(now unit.Instant) {
	if left := time.Duration(now) - time.Since(b.began); left > 0 {
		<-time.NewTimer(left).C
	}
}

// peers are the originals.
func peers(made func(*failsafe)) []lab.Peer {
	with := func(window time.Duration) func(limit.Config) (limit.Limiter, func(boundary.Event)) {
		return func(c limit.Config) (limit.Limiter, func(boundary.Event)) {
			f := newFailsafe(c, window)
			made(f)
			return f, f.event
		}
	}
	return []lab.Peer{
		{Name: "failsafe-go", New: with(0)}, // its defaults, but for the ceiling
		// The same with windows of 100 ms, as the other laws have them, instead of a second.
		{Name: "failsafe-100ms", New: with(100 * time.Millisecond)},
	}
}
