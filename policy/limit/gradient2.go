package limit

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// gradient2 compares a mean over 600 windows with the latest window.
type gradient2 struct {
	bounds
	windowed
	long    float64 // nanoseconds
	windows float64
}

const (
	longWindows  = 600
	warmUp       = 10
	longTolerant = 1.5
	queueAllowed = 4
	smoothing    = 0.2
)

func newGradient2(c Config) *gradient2 { return &gradient2{bounds: newBounds(c)} }

// Ended moves the limit once a window.
func (g *gradient2) Ended(now unit.Instant, s Sample) {
	if !g.add(now, &s) {
		return
	}
	short, most, _ := g.take()
	if short == 0 {
		return
	}
	if g.windows++; g.windows <= warmUp {
		g.long += (short - g.long) / g.windows
	} else {
		g.long += float64(2.0 / (longWindows + 1) * (short - g.long))
	}
	if g.long > 2*short {
		g.long = float64(g.long * 0.95)
	}
	if 2*most < g.Limit() {
		return
	}
	gradient := max(0.5, min(1, longTolerant*g.long/short))
	next := float64(g.level*gradient) + queueAllowed
	g.set(float64(g.level*(1-smoothing)) + float64(next*smoothing))
}

// State returns what there is to see.
func (g *gradient2) State() State {
	return State{Law: Gradient2, Limit: g.Limit(), FloorBinds: g.floor, Baseline: time.Duration(g.long), Doing: "steady"}
}
