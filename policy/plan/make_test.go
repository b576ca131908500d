package plan_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/plan"
)

func anyFloat(t *rapid.T, name string) float64 {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64}),
		rapid.Float64Range(0, 1e4),
		rapid.Float64(),
	).Draw(t, name)
}

func anyDuration(t *rapid.T, name string) time.Duration {
	return time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1e5, 1e10), rapid.Just(anyInt64(t, name+" if absurd"))).Draw(t, name))
}

func anyInput(t *rapid.T) plan.Input {
	names := rapid.SampledFrom([]string{"a", "b", "", "a name\x1b[2J that is very long and moves the cursor of a terminal, if it may do so at all"})
	in := plan.Input{Outage: anyDuration(t, "outage"), FalseTimeouts: anyFloat(t, "false timeouts")}
	for range rapid.IntRange(0, 2).Draw(t, "upstreams") {
		u := plan.Upstream{Name: names.Draw(t, "upstream"), Slots: anyInt64(t, "upstream slots"),
			StopsAtDeadline: rapid.Bool().Draw(t, "stops"), StopsAfter: anyDuration(t, "stops after")}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			u.Service = append(u.Service, plan.ServicePart{Weight: anyFloat(t, "weight"), Time: anyDuration(t, "time")})
		}
		in.Upstreams = append(in.Upstreams, u)
	}
	for range rapid.IntRange(0, 3).Draw(t, "classes") {
		c := plan.Class{
			Name: names.Draw(t, "class"), Upstream: names.Draw(t, "class upstream"),
			Slots:  plan.Adaptive(anyInt64(t, "min"), anyInt64(t, "start"), anyInt64(t, "max")),
			Borrow: anyInt64(t, "borrow"), Bound: anyInt64(t, "bound"),
			Budget:   plan.Budget{Latency: anyDuration(t, "latency"), Service: anyDuration(t, "service")},
			Memory:   plan.Memory{Limit: anyInt64(t, "limit"), PerRequest: anyInt64(t, "per request")},
			Deadline: anyDuration(t, "deadline"), MaxDeadline: anyDuration(t, "max deadline"), Block: anyDuration(t, "block"),
			Call: plan.Call{Timeout: anyDuration(t, "timeout"), Retries: int(anyInt64(t, "retries")), Reserve: anyDuration(t, "reserve"),
				RetryBudget: anyFloat(t, "budget"), RetryBudgetOff: rapid.Bool().Draw(t, "off"), PassDeadline: rapid.Bool().Draw(t, "pass"),
				Backoff: plan.Backoff{Base: anyDuration(t, "base"), Max: anyDuration(t, "longest"), Decorrelated: rapid.Bool().Draw(t, "decorrelated")},
				Hedge: plan.Hedge{After: anyDuration(t, "after"), Percentile: rapid.IntRange(0, 99).Draw(t, "percentile"),
					Budget: anyFloat(t, "hedge budget"), BudgetOff: rapid.Bool().Draw(t, "hedge off")},
				Breaker: plan.Breaker{Window: anyDuration(t, "window"), SlowAfter: anyDuration(t, "slow"), MinCalls: int(anyInt64(t, "calls")),
					ProbeTimeout: anyDuration(t, "probe"), Shares: rapid.Bool().Draw(t, "shares")}},
			Cancel: rapid.Bool().Draw(t, "cancel"), HoldAtMost: anyDuration(t, "hold"), Posts: rapid.Bool().Draw(t, "posts"),
			Rungs:  []plan.Rung{{Name: "r", Upstream: names.Draw(t, "rung upstream")}},
			Quotas: []string{names.Draw(t, "class quota")},
			Expect: plan.Expect{Rate: anyFloat(t, "rate"), CallersAttempts: []int{int(anyInt64(t, "attempts"))},
				CallersTimeouts: []time.Duration{anyDuration(t, "caller")}},
			Tenants: plan.Tenants{Policy: rapid.SampledFrom([]string{"", "fifo", "rr", "wrr", "drr"}).Draw(t, "policy"), Queue: anyInt64(t, "queue")},
		}
		for range rapid.IntRange(0, 3).Draw(t, "measured") {
			c.Measured.Times = append(c.Measured.Times, anyDuration(t, "measured time"))
		}
		slices.Sort(c.Measured.Times)
		for range rapid.IntRange(0, 3).Draw(t, "tenants") {
			c.Tenants.Named = append(c.Tenants.Named, plan.Tenant{Name: names.Draw(t, "tenant"), Weight: anyInt64(t, "tenant weight")})
		}
		in.Classes = append(in.Classes, c)
	}
	for range rapid.IntRange(0, 2).Draw(t, "quotas") {
		in.Quotas = append(in.Quotas, plan.Quota{
			Name: names.Draw(t, "quota"), RequestsPerS: anyFloat(t, "requests"), TokensPerS: anyFloat(t, "tokens"),
			TokensBurst: anyFloat(t, "burst"), TokensPerCall: anyFloat(t, "tokens a call"), Concurrent: anyInt64(t, "concurrent"),
			MeanCall: anyDuration(t, "mean call"), Deadline: anyDuration(t, "quota deadline"),
		})
	}
	return in
}

// Whatever the input: an answer, the same each time, that JSON can carry, with an
// assumption at each figure, in lines that fit.
func TestMakeIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		p := plan.Make(in)
		doc, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(plan.Make(in))
		if string(doc) != string(again) {
			t.Fatalf("two answers:\n%s\n%s", doc, again)
		}
		var back plan.Plan
		if err := json.Unmarshal(doc, &back); err != nil {
			t.Fatal(err)
		}
		if twice, _ := json.Marshal(back); string(twice) != string(doc) {
			t.Fatalf("JSON does not come back:\n%s\n%s", doc, twice)
		}
		if strings.Contains(string(doc), `"warnings":null`) || strings.Contains(string(doc), `"figures":null`) {
			t.Fatal("an empty list is null")
		}
		for _, u := range p.Upstreams {
			if float64(u.StableBelowPerS) > float64(u.MetastableBelowPerS) {
				t.Fatalf("stable below %v, metastable below %v", u.StableBelowPerS, u.MetastableBelowPerS)
			}
			checkFigures(t, u.Figures)
		}
		for _, c := range p.Classes {
			if c.RetainedBytes < 0 || c.Bound < 0 || float64(c.ThroughputPerS) < 0 {
				t.Fatalf("negative: %+v", c)
			}
			checkFigures(t, c.Figures)
		}
		for _, q := range p.Quotas {
			checkFigures(t, q.Figures)
		}
		text := p.String()
		for _, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > 100 {
				t.Fatalf("%d columns: %s", n, line)
			}
		}
		if strings.ContainsRune(text, '\x1b') {
			t.Fatal("a name moves the cursor")
		}
	})
}

func checkFigures(t *rapid.T, fs []plan.Figure) {
	if len(fs) == 0 {
		t.Fatal("no figures")
	}
	for _, f := range fs {
		if f.Name == "" || f.Formula == "" || f.Assumption == "" {
			t.Fatalf("%+v", f)
		}
	}
}

// Each figure that names a field of its object has that field's value.
func TestFiguresAreTheFields(t *testing.T) {
	in := store(450, plan.Call{Timeout: 25 * ms, Retries: 2, RetryBudget: 0.1})
	doc, _ := json.Marshal(plan.Make(in))
	var p map[string]any
	if err := json.Unmarshal(doc, &p); err != nil {
		t.Fatal(err)
	}
	for _, path := range [][]string{{"classes", "score"}, {"upstreams", "store"}} {
		object := p[path[0]].(map[string]any)[path[1]].(map[string]any)
		seen := 0
		for _, f := range object["figures"].([]any) {
			f := f.(map[string]any)
			if field, ok := object[f["name"].(string)]; ok {
				seen++
				if !reflect.DeepEqual(field, f["value"]) {
					t.Errorf("%v: field %v, figure %v", f["name"], field, f["value"])
				}
			}
		}
		if seen < 5 {
			t.Errorf("%v: only %d figures belong to fields", path, seen)
		}
	}
}

// The fields that the labs promise are there, also where there is nothing to say.
func TestJSONContract(t *testing.T) {
	in := oneClass(6, time.Second, func(c *plan.Class) { c.Tenants.Named = []plan.Tenant{{Name: "A", Weight: 1}} })
	in.Quotas = []plan.Quota{{Name: "q", RequestsPerS: 6}}
	for _, tt := range []struct {
		in    plan.Input
		paths []string
	}{
		{plan.Input{}, []string{"classes", "tenants", "upstreams", "quotas", "amplification_max", "warnings"}},
		{in, []string{
			"classes.c.slots", "classes.c.throughput_per_s", "classes.c.bound", "classes.c.bound_from", "classes.c.retained_bytes",
			"classes.c.buffer_fill_s", "classes.c.backlog_growth_per_s", "classes.c.in_system", "classes.c.warnings",
			"tenants.A.share_per_s", "tenants.A.wait_s",
			"upstreams.u.sustainable_per_s", "upstreams.u.stable_below_per_s", "upstreams.u.metastable_below_per_s",
			"quotas.q.feasible_per_s", "quotas.q.binding",
		}},
	} {
		doc, _ := json.Marshal(plan.Make(tt.in))
		for _, path := range tt.paths {
			var at any
			if err := json.Unmarshal(doc, &at); err != nil {
				t.Fatal(err)
			}
			for _, key := range strings.Split(path, ".") {
				object, _ := at.(map[string]any)
				v, ok := object[key]
				if !ok {
					t.Errorf("%s is missing in %s", path, doc)
					break
				}
				at = v
			}
		}
	}
}

// Growing what a class has never makes it slower.
func TestMoreSlotsAreNeverSlower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1000).Draw(t, "slots")
		more := n + rapid.Int64Range(0, 1000).Draw(t, "more")
		d := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "service"))
		a, b := plan.Make(oneClass(n, d, nil)), plan.Make(oneClass(more, d, nil))
		if a.Classes["c"].ThroughputPerS > b.Classes["c"].ThroughputPerS ||
			a.Upstreams["u"].StableBelowPerS > b.Upstreams["u"].StableBelowPerS {
			t.Fatalf("%d slots do more than %d", n, more)
		}
	})
}

// Shares of tenants that all have a weight add up to the throughput.
func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Int64Range(1, 1000), 1, 10).Draw(t, "weights")
		in := oneClass(6, time.Second, func(c *plan.Class) {
			for i, w := range weights {
				c.Tenants.Named = append(c.Tenants.Named, plan.Tenant{Name: string(rune('a' + i)), Weight: w})
			}
		})
		sum := 0.0
		for _, tenant := range plan.Make(in).Tenants {
			sum += float64(tenant.SharePerS)
		}
		if math.Abs(sum-6) > 1e-9 {
			t.Fatalf("%v of 6", sum)
		}
	})
}

// Weights whose sum does not fit are still weights.
func TestAbsurdWeights(t *testing.T) {
	p := plan.Make(oneClass(6, time.Second, func(c *plan.Class) {
		c.Tenants.Named = []plan.Tenant{{Name: "A", Weight: math.MaxInt64}, {Name: "B", Weight: math.MaxInt64}}
	}))
	if share := p.Tenants["B"].SharePerS; !share.Known() || share > 6 {
		t.Errorf("share %v", share)
	}
}
