package plan_test

import (
	"math"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/plan"
)

// Which side of the border a config is on, and what its phase says of long queues,
// are one thing.
func TestAQueueTipsWhereTheConfigIsMetastable(t *testing.T) {
	for _, tt := range []struct {
		name           string
		rate, attempts float64
		tips           float64
	}{
		{"stable: the queue shrinks at any length", 290, 3, math.Inf(1)},
		{"metastable: it grows once its wait is the timeout", 450, 3, 22.5},
		{"the border itself does not return", 300, 3, 22.5},
		{"a budget takes the border away", 450, 1.1, math.Inf(1)},
		{"unstable: it grows from the first on", 900, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plan.PhaseOf(tt.rate, tt.attempts, 900, 25*time.Millisecond)
			if math.Abs(p.Tips-tt.tips) > 1e-9 {
				t.Fatalf("tips at %v, want %v", p.Tips, tt.tips)
			}
			for i, q := range p.Queued {
				if grows := p.RetriesPerS[i] >= p.StandstillPerS; grows != (q > tt.tips || tt.tips == 0) {
					t.Errorf("at %v waiting: retries %v/s, standstill %v/s", q, p.RetriesPerS[i], p.StandstillPerS)
				}
			}
		})
	}
}

func TestAPhaseOfNothing(t *testing.T) {
	for _, p := range []plan.Phase{
		plan.PhaseOf(450, 3, math.NaN(), time.Second), plan.PhaseOf(450, 3, 900, 0), plan.PhaseOf(450, 3, math.Inf(1), time.Second),
	} {
		if len(p.Queued) != 0 {
			t.Errorf("%+v", p)
		}
	}
}
