package plan_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/plan"
)

func TestFormulas(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"40 slots of 100 ms", plan.Throughput(40, 100*ms), 400},
		{"64 slots of 8 ms", plan.Throughput(64, 8*ms), 8000},
		{"no slots", plan.Throughput(0, 0), 0},
		{"unknown holding", plan.Throughput(4, 0), nan},
		{"slots for 12,000/s of 8 ms", float64(plan.SlotsFor(12_000, 8*ms)), 96},
		{"slots for a rate computed back and forth", float64(plan.SlotsFor(plan.Throughput(49, 7*ms), 7*ms)), 49},
		{"slots for a little more", float64(plan.SlotsFor(12_001, 8*ms)), 97},
		{"slots for nothing", float64(plan.SlotsFor(nan, 8*ms)), 0},
		{"4/s for 1.5 s", plan.InSystem(4, 1500*ms), 6},
		{"6 inside at 4/s", plan.TimeInSystem(6, 4), 1.5},
		{"6 inside, none arrive", plan.TimeInSystem(6, 0), inf},
		{"nobody, none arrive", plan.TimeInSystem(0, 0), nan},
		{"10/s against 6/s", plan.BacklogGrowth(10, 6), 4},
		{"6/s against 10/s", plan.BacklogGrowth(6, 10), 0},
		{"against an unknown throughput", plan.BacklogGrowth(6, nan), nan},
		{"against no limit", plan.BacklogGrowth(6, inf), 0},
		{"a room of 12", plan.FillTime(12, 10, 6), 3},
		{"a room that never fills", plan.FillTime(12, 6, 6), inf},
		{"no room", plan.FillTime(0, 10, 6), 0},
		{"80 at 400/s", plan.DrainTime(80, 400), 0.2},
		{"80 that nothing drains", plan.DrainTime(80, 0), inf},
		{"nothing to drain", plan.DrainTime(0, 0), 0},
		{"a quarter of 6/s", plan.Share(6, 1, 4), 1.5},
		{"of no weights", plan.Share(6, 0, 0), nan},
		{"three layers of three", plan.Amplification(3, 3, 3), 27},
		{"five layers of three", plan.Amplification(3, 3, 3, 3, 3), 243},
		{"no layers", plan.Amplification(), 1},
		{"less than one attempt is one", plan.Amplification(0, -3, 2), 2},
		{"3 attempts, 10 %", plan.SustainedAttempts(3, 0.1, false), 1.1},
		{"3 attempts, budget off", plan.SustainedAttempts(3, 0.1, true), 3},
		{"1 attempt, 10 %", plan.SustainedAttempts(1, 0.1, false), 1},
		{"3 attempts, no limit", plan.SustainedAttempts(3, inf, false), 3},
		{"3 attempts, nonsense", plan.SustainedAttempts(3, nan, false), 1},
		{"890/s with 3 attempts", plan.StableBelow(891, 3), 297},
		{"mean of the store", float64(plan.MeanService([]plan.ServicePart{{0.99, 2900 * time.Microsecond}, {0.01, 1500 * ms}})), 17_871_000},
		{"weights of any scale", float64(plan.MeanService([]plan.ServicePart{{math.MaxFloat64, 2}, {math.MaxFloat64, 4}})), 3},
		{"no weights", float64(plan.MeanService([]plan.ServicePart{{0, 2}, {nan, 4}, {inf, 5}})), 0},
		{"share over 25 ms", plan.ShareOver([]plan.ServicePart{{99, 3 * ms}, {1, 1500 * ms}}, 25*ms), 0.01},
		{"share of nothing", plan.ShareOver(nil, 25*ms), nan},
	} {
		if tt.got != tt.want && !(math.IsNaN(tt.got) && math.IsNaN(tt.want)) {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

// Little's law both ways round is the identity.
func TestLittleRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.001, 1e6).Draw(t, "rate")
		stay := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "stay"))
		back := plan.TimeInSystem(plan.InSystem(rate, stay), rate)
		if math.Abs(back-stay.Seconds()) > 1e-12*stay.Seconds() {
			t.Fatalf("%v s, want %v", back, stay)
		}
	})
}

// SlotsFor is enough, and one fewer is not.
func TestSlotsForIsTight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.1, 1e6).Draw(t, "rate")
		holding := time.Duration(rapid.Int64Range(int64(time.Microsecond), int64(time.Minute)).Draw(t, "holding"))
		n := plan.SlotsFor(rate, holding)
		if got := plan.Throughput(n, holding); got < rate*(1-1e-8) {
			t.Fatalf("%d slots do %v of %v", n, got, rate)
		}
		if got := plan.Throughput(n-1, holding); got >= rate*(1+1e-8) {
			t.Fatalf("one fewer than %d does %v of %v", n, got, rate)
		}
	})
}
