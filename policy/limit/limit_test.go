package limit

import (
	"math"
	"testing"

	"github.com/spillway-dev/spillway/policy/reason"
)

func TestFixedIsMovedByNothing(t *testing.T) {
	for figure, want := range map[Fixed]int{math.MinInt: 1, -1: 1, 0: 1, 1: 1, 40: 40} {
		var l Limiter = figure
		for _, why := range reason.All() {
			l.Ended(5, Sample{Held: math.MaxInt64, Running: 100, Outcome: why})
		}
		if l.Limit() != want {
			t.Errorf("fixed at %d: %d", int(figure), l.Limit())
		}
	}
}
