package plan_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/plan"
)

func TestTimeoutOfAMix(t *testing.T) {
	mix := []plan.ServicePart{{Weight: 0.99, Time: 2900 * time.Microsecond}, {Weight: 0.01, Time: 1500 * ms}}
	for _, tt := range []struct {
		share float64
		want  time.Duration
	}{{0.001, 1500 * ms}, {0.01, 2900 * time.Microsecond}, {0.5, 2900 * time.Microsecond}, {0, 1500 * ms}} {
		if got := plan.TimeoutFor(mix, tt.share); got != tt.want {
			t.Errorf("%v false: %v, want %v", tt.share, got, tt.want)
		}
	}
	if got := plan.TimeoutFor(nil, 0.001); got != 0 {
		t.Errorf("nothing known: %v", got)
	}
}

// Of the times 1 .. 10,000 ms one in a thousand lies above 9,990 ms.
func TestTimeoutOfMeasurements(t *testing.T) {
	var times []time.Duration
	for i := range 10_000 {
		times = append(times, time.Duration(i+1)*ms)
	}
	at, low, high := plan.TimeoutOf(times, 0.001)
	if at != 9990*ms {
		t.Errorf("%v, want 9.99s: ten of ten thousand are longer", at)
	}
	if low != 9984*ms || high != 9997*ms { // 10 ± 6.2 are longer
		t.Errorf("from %v to %v", low, high)
	}
	if at, _, high := plan.TimeoutOf(times[:100], 0.001); at != 100*ms || high != 0 {
		t.Errorf("a hundred calls say nothing of one in a thousand: %v, at most %v", at, high)
	}
	for name, sorted := range map[string][]time.Duration{"none": nil, "one": {ms}} {
		if at, low, high := plan.TimeoutOf(sorted, 0.001); len(sorted) == 0 && at+low+high != 0 || len(sorted) == 1 && at != ms {
			t.Errorf("%s: %v %v %v", name, at, low, high)
		}
	}
	for _, share := range []float64{math.NaN(), -1, 2, math.Inf(1)} {
		if at, low, high := plan.TimeoutOf(times, share); at < low || high != 0 && high < at {
			t.Errorf("share %v: %v in %v to %v", share, at, low, high)
		}
	}
}

// The range holds the true timeout in about 95 of 100 samples: for exponential times
// of mean 1 that all but one in a hundred stay within, ln 100.
func TestTheRangeOfATimeoutHoldsTheTrueOne(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 1))
	held := 0
	const samples = 1000
	for range samples {
		times := make([]time.Duration, 2000)
		for i := range times {
			times[i] = time.Duration(dice.ExpFloat64() * 1e9)
		}
		slices.Sort(times)
		_, low, high := plan.TimeoutOf(times, 0.01)
		if truth := time.Duration(math.Log(100) * 1e9); low <= truth && truth <= high {
			held++
		}
	}
	if held < 930 || held > 985 {
		t.Errorf("%d of %d ranges of 95 %% hold it", held, samples)
	}
}

func TestTimeoutsOfAPlan(t *testing.T) {
	near := func(t *testing.T, got plan.Number, want float64) {
		t.Helper()
		if !(math.Abs(float64(got)-want) < 1e-9) {
			t.Errorf("proposed %v s, want %v", got, want)
		}
	}
	t.Run("from the mix", func(t *testing.T) {
		near(t, plan.Make(store(0, plan.Call{})).Classes["score"].ProposedTimeoutS, 1.5)
	})
	t.Run("from the mix, one in a hundred accepted", func(t *testing.T) {
		in := store(0, plan.Call{})
		in.FalseTimeouts = 0.01
		near(t, plan.Make(in).Classes["score"].ProposedTimeoutS, 0.0029)
	})
	t.Run("what was measured goes before the mix", func(t *testing.T) {
		in := store(0, plan.Call{Timeout: 25 * ms})
		for i := range 20_000 {
			in.Classes[0].Measured.Times = append(in.Classes[0].Measured.Times, time.Duration(i+1)*10*time.Microsecond)
		}
		in.Classes[0].Measured.From = "traffic.rec"
		p := plan.Make(in)
		near(t, p.Classes["score"].ProposedTimeoutS, 0.1998)
		wantWarning(t, p, "class score: call.timeout 25 ms cuts off 87.5 % of the calls measured, more than the accepted 0.1 %; 200 ms would not")
	})
	t.Run("nothing is known", func(t *testing.T) {
		in := oneClass(40, 100*ms, nil)
		in.Upstreams[0].Service = nil
		if got := plan.Make(in).Classes["c"].ProposedTimeoutS; got.Known() {
			t.Errorf("%v", got)
		}
	})
}
