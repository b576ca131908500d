package plan_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/plan"
)

func TestHedgesMultiplyTries(t *testing.T) {
	for _, tt := range []struct {
		name   string
		tries  float64
		budget float64
		off    bool
		want   float64
	}{
		{"one try, hedges at most a tenth", 1, 0.1, false, 1.1},
		{"three tries, hedges at most a tenth of requests", 3, 0.1, false, 3.1},
		{"no more hedges than tries", 1, 5, false, 2},
		{"no budget: each try is made twice", 3, 0.1, true, 6},
		{"an infinite budget is none", 1, math.Inf(1), false, 2},
		{"no number is no hedge", 1, math.NaN(), false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := plan.SustainedCalls(tt.tries, tt.budget, tt.off); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestLongestCall(t *testing.T) {
	for _, tt := range []struct {
		name    string
		tries   int
		timeout time.Duration
		backoff plan.Backoff
		want    time.Duration
	}{
		{"one try has no pause", 1, 25 * ms, plan.Backoff{Base: 5 * ms}, 25 * ms},
		{"pauses of 10 and 20 ms", 3, 25 * ms, plan.Backoff{Base: 10 * ms}, 105 * ms},
		{"cut to the longest", 4, 0, plan.Backoff{Base: 10 * ms, Max: 15 * ms}, 40 * ms},
		{"decorrelated: three times the one before", 3, 0, plan.Backoff{Base: 10 * ms, Max: time.Second, Decorrelated: true}, 120 * ms},
		{"no pauses", 3, 25 * ms, plan.Backoff{}, 75 * ms},
		{"without end", math.MaxInt, time.Hour, plan.Backoff{Base: time.Hour}, math.MaxInt64},
		{"nonsense is nothing", -3, -time.Hour, plan.Backoff{Base: -1, Max: -1}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := plan.LongestCall(tt.tries, tt.timeout, tt.backoff); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// What a hedge adds to the worst case: each try of the innermost layer twice.
func TestAmplificationAcrossLayersWithAHedge(t *testing.T) {
	in := store(0, plan.Call{Timeout: 25 * ms, Retries: 2, RetryBudget: 0.1, Hedge: plan.Hedge{After: 10 * ms, Budget: 0.1}})
	in.Classes[0].Expect.CallersAttempts = []int{3, 3}
	p := plan.Make(in)
	if p.AmplificationMax != 54 || p.Classes["score"].Amplification != 54 {
		t.Errorf("%v at most, %v of the class; want 3 x 3 x 3 x 2", p.AmplificationMax, p.Classes["score"].Amplification)
	}
	wantWarning(t, p, "54 calls (3 x 3 x 3 x 2)")
	in.Classes[0].Expect.CallersAttempts = nil
	for _, w := range plan.Make(in).Warnings {
		if strings.Contains(w, "layers") {
			t.Errorf("three tries with hedges are one layer, but: %s", w)
		}
	}
	if got, want := float64(p.Classes["score"].SustainedAttempts), 1.2; math.Abs(got-want) > 1e-12 {
		t.Errorf("sustained %v, want 1 + 10 %% + 10 %%", got)
	}
}

// At 450/s the store of the fallback lab is metastable with hedges as with retries,
// unless a budget holds them (the hedge arm without one tips in 35 of 200 rounds).
func TestAHedgeWithoutABudgetTipsAsRetriesDo(t *testing.T) {
	hedge := func(budget float64, off bool) plan.UpstreamPlan {
		return plan.Make(store(450, plan.Call{Timeout: 25 * ms, Hedge: plan.Hedge{After: 10 * ms, Budget: budget, BudgetOff: off}})).Upstreams["store"]
	}
	if u := hedge(0, true); u.State != "metastable" || math.Abs(float64(u.StableBelowPerS)-16/0.017871/2) > 1e-9 {
		t.Errorf("without a budget %s below %v", u.State, u.StableBelowPerS)
	}
	if u := hedge(0.1, false); u.State != "stable" || math.Abs(float64(u.StableBelowPerS)-16/0.017871/1.1) > 1e-9 {
		t.Errorf("with a budget %s below %v", u.State, u.StableBelowPerS)
	}
	p := plan.Make(store(450, plan.Call{Timeout: 25 * ms, Hedge: plan.Hedge{After: 10 * ms, BudgetOff: true}}))
	wantWarning(t, p, "upstream store: metastable at the expected 450/s", "set call.hedge.budget to 10 % (stable below 814/s)")
	p = plan.Make(store(800, plan.Call{Retries: 2, RetryBudgetOff: true, Hedge: plan.Hedge{After: 10 * ms, BudgetOff: true}}))
	wantWarning(t, p, "set call.retry_budget and call.hedge.budget below 5 %")
}

// The deadline that travels down cuts the freezes: 0.99 x 2.9 ms + 0.01 x 25 ms.
func TestWhatPassingTheDeadlineDownChanges(t *testing.T) {
	call := plan.Call{Timeout: 25 * ms, Retries: 2, RetryBudgetOff: true, PassDeadline: true}
	held := 0.99*0.0029 + 0.01*0.025
	near := func(what string, got plan.Number, want float64) {
		t.Helper()
		if !(math.Abs(float64(got)-want) <= 1e-9*want) {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	in := store(450, call)
	u := plan.Make(in).Upstreams["store"]
	near("sustainable while it works on", u.SustainablePerS, 16/0.017871)
	near("sustainable if it stopped", u.StoppingPerS, 16/held)
	near("stable if it stopped", u.StoppingStablePerS, 16/held/3)
	if u.State != "metastable" {
		t.Errorf("%s while it works on for who has left", u.State)
	}

	in.Upstreams[0].StopsAtDeadline = true
	u = plan.Make(in).Upstreams["store"]
	near("sustainable", u.SustainablePerS, 16/held)
	near("stable below", u.StableBelowPerS, 16/held/3)
	near("mean service", u.MeanServiceS, 0.017871)
	if u.State != "stable" {
		t.Errorf("%s where it stops at 25 ms", u.State)
	}

	in.Classes[0].Call.PassDeadline = false
	near("sustainable where it is not told", plan.Make(in).Upstreams["store"].SustainablePerS, 16/0.017871)

	in.Upstreams[0] = plan.Upstream{Name: "store", Slots: 16, Service: in.Upstreams[0].Service, StopsAfter: 100 * ms}
	near("sustainable where it gives up after 100 ms", plan.Make(in).Upstreams["store"].SustainablePerS, 16/(0.99*0.0029+0.01*0.1))
}

// Classes with different limits hold the slots of one upstream for different times.
func TestHoldIsWeighedByRate(t *testing.T) {
	in := store(100, plan.Call{Timeout: 25 * ms, PassDeadline: true})
	in.Upstreams[0].StopsAtDeadline = true
	patient := in.Classes[0]
	patient.Name, patient.Call.Timeout, patient.Expect.Rate = "patient", 200*ms, 300
	in.Classes = append(in.Classes, patient)
	quick, slow := 0.99*0.0029+0.01*0.025, 0.99*0.0029+0.01*0.2
	got := float64(plan.Make(in).Upstreams["store"].SustainablePerS)
	if want := 16 / ((100*quick + 300*slow) / 400); math.Abs(got-want) > 1e-4*want { // to the nanosecond
		t.Errorf("%v, want %v", got, want)
	}
	in.Classes[0].Expect.Rate = 0 // not known: the longest counts
	if got := float64(plan.Make(in).Upstreams["store"].SustainablePerS); math.Abs(got-16/slow) > 1e-4*got {
		t.Errorf("%v, want %v", got, 16/slow)
	}
}

// A slot is never held longer for being freed earlier.
func TestALimitOnlyShortensTheHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var mix []plan.ServicePart
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			mix = append(mix, plan.ServicePart{Weight: anyFloat(t, "weight"), Time: anyDuration(t, "time")})
		}
		a, b := anyDuration(t, "a"), anyDuration(t, "b")
		if a > b {
			a, b = b, a
		}
		whole := plan.MeanService(mix)
		short, long := plan.HoldUpTo(mix, a), plan.HoldUpTo(mix, b)
		if a > 0 && (short > long || short > a) || long > whole {
			t.Fatalf("up to %v: %v, up to %v: %v, whole: %v", a, short, b, long, whole)
		}
	})
}
