package workload_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/workload"
	"pgregory.net/rapid"
)

func drain(t interface{ Fatal(...any) }, s workload.Source) []workload.Arrival {
	var all []workload.Arrival
	var a workload.Arrival
	for s.Next(&a) {
		if len(all) > 0 && a.At < all[len(all)-1].At {
			t.Fatal("time runs backwards: ", all[len(all)-1].At, a.At)
		}
		if int64(len(all)) != a.N {
			t.Fatal("arrival ", len(all), " has the number ", a.N)
		}
		all = append(all, a)
	}
	if s.Next(&a) {
		t.Fatal("a source that had ended goes on")
	}
	return all
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// richSource has every part of a spec, and every wrapper.
func richSource(t *testing.T) (*workload.Names, workload.Source) {
	t.Helper()
	names := workload.NewNames()
	web := must(workload.Spec{
		Seed: 1, Stream: "web",
		Rate:       must(workload.ParseRate("1000:5s,3000:5s")),
		Classes:    must(workload.ParseMix("checkout=3,browse=1")),
		Tenants:    must(workload.ParseMix("acme=8,beta=1")),
		Importance: must(workload.ParseMix("user=9,prefetch=1")),
		Sessions:   100,
		Service:    must(workload.ParseService("mix:0.9*lognormal:mean=10ms,p99=40ms,0.1*exp:1s")),
		Deadline:   300 * time.Millisecond,
	}.Source(names))
	batch := must(workload.Spec{
		Seed: 1, Stream: "batch",
		Rate:     must(workload.ParseRate("500")),
		Arrivals: must(workload.ParseArrivals("bursts:on=100ms,off=900ms")),
		For:      10 * time.Second,
		Service:  must(workload.ParseService("uniform:1ms-3ms")),
		Cost:     7, Bytes: 4096,
	}.Source(names))
	both := must(workload.Scale(workload.Merge(web, batch), 1.1, 1, "run"))
	return names, workload.Until(must(workload.Speed(both, 2)), 10*time.Second)
}

func TestArrivalsComeAtTheirRate(t *testing.T) {
	for _, c := range []struct {
		rate, arrivals string
		length         time.Duration
		low, high      int
	}{
		{"100", "constant", time.Second, 100, 100},
		{"3", "constant", 10 * time.Second, 30, 30},
		{"100:60s,300:30s", "constant", 0, 15000, 15000},
		{"100:60s,300:30s", "constant", time.Minute, 6000, 6000},
		{"10:1s,0:1h,10:1s", "constant", 0, 20, 20},
		{"0", "constant", time.Hour, 0, 0},
		{"0", "poisson", time.Hour, 0, 0},
		{"0:1h", "bursts:on=1ms,off=1ms", 0, 0, 0},
		{"10000", "poisson", 10 * time.Second, 98_500, 101_500}, // 5 sigma
		{"100:60s,300:30s", "poisson", 0, 14_400, 15_600},
		{"1000", "bursts:on=1s,off=9s", 100 * time.Second, 98_500, 101_500},
		{"0.5:10s,2", "poisson", 1000 * time.Second, 1_770, 2_200},
	} {
		spec := workload.Spec{Seed: 1, Stream: c.rate, Rate: must(workload.ParseRate(c.rate)), Arrivals: must(workload.ParseArrivals(c.arrivals)), For: c.length}
		got := drain(t, must(spec.Source(workload.NewNames())))
		if len(got) < c.low || len(got) > c.high {
			t.Errorf("%s %s: %d arrivals, want %d to %d", c.arrivals, c.rate, len(got), c.low, c.high)
		}
		length := max(c.length, spec.Rate.Total())
		for _, a := range got {
			if a.At >= length || spec.Rate.At(a.At) == 0 {
				t.Errorf("%s %s: an arrival at %v", c.arrivals, c.rate, a.At)
			}
		}
	}
}

func TestConstantArrivalsKeepTheirDistanceWithoutDrift(t *testing.T) {
	spec := workload.Spec{Rate: must(workload.ConstantRate(3)), Arrivals: workload.Constant, For: 1_000_000 * time.Second}
	s := must(spec.Source(workload.NewNames()))
	var a workload.Arrival
	for n := int64(0); s.Next(&a); n++ {
		if want := time.Duration(n) * time.Second / 3; (a.At - want).Abs() > 1 {
			t.Fatalf("arrival %d is at %v, want %v", n, a.At, want)
		}
	}
	if a.N != 2_999_999 {
		t.Errorf("the last is number %d", a.N)
	}
}

// A Poisson process has exponential gaps, also across steps once each gap is
// measured in what the rate expects during it.
func TestPoissonGapsAreExponential(t *testing.T) {
	spec := workload.Spec{Seed: 2, Rate: must(workload.ParseRate("100:1s,5000:1s,300:3s,2000")), For: 50 * time.Second}
	var areas []float64
	last := 0.0
	for _, a := range drain(t, must(spec.Source(workload.NewNames()))) {
		area := spec.Rate.Expected(a.At)
		areas = append(areas, area-last)
		last = area
	}
	slices.Sort(areas)
	worst, n := 0.0, float64(len(areas))
	for i, x := range areas {
		worst = max(worst, math.Abs(-math.Expm1(-x)-(float64(i)+0.5)/n))
	}
	if bound := 2 / math.Sqrt(n); worst > bound { // Kolmogorov and Smirnov, p = 0.0007
		t.Errorf("distance %g over %v gaps, allowed %g", worst, n, bound)
	}
}

func TestBurstsAreSilentBetween(t *testing.T) {
	spec := workload.Spec{Seed: 1, Rate: must(workload.ConstantRate(100)), Arrivals: must(workload.Bursts(time.Second, 3*time.Second)), For: 400 * time.Second}
	for _, a := range drain(t, must(spec.Source(workload.NewNames()))) {
		if a.At%(4*time.Second) >= time.Second {
			t.Fatalf("an arrival at %v", a.At)
		}
	}
}

func TestOnePartOfASpecChangesNoOther(t *testing.T) {
	spec := workload.Spec{Seed: 1, Stream: "x", Rate: must(workload.ConstantRate(1000)), For: time.Second, Service: must(workload.ParseService("exp:10ms"))}
	before := drain(t, must(spec.Source(workload.NewNames())))
	spec.Tenants, spec.Sessions, spec.Cost = must(workload.ParseMix("a,b,c")), 10, 3
	after := drain(t, must(spec.Source(workload.NewNames())))
	if len(before) != len(after) {
		t.Fatalf("%d requests became %d", len(before), len(after))
	}
	sessions := map[uint64]bool{}
	for i := range before {
		if before[i].At != after[i].At || before[i].Service != after[i].Service {
			t.Fatalf("request %d changed from %v to %v", i, before[i], after[i])
		}
		sessions[after[i].Session] = true
	}
	if len(sessions) != 10 || sessions[0] {
		t.Errorf("10 sessions were asked for: %v", sessions)
	}
}

func TestMergeIsInOrderOfTimeThenOfSources(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sources []workload.Source
		var want []workload.Arrival
		for i := range rapid.IntRange(0, 6).Draw(t, "sources") {
			ats := rapid.SliceOf(rapid.IntRange(0, 10)).Draw(t, "ats")
			slices.Sort(ats)
			var arrivals []workload.Arrival
			for _, at := range ats {
				arrivals = append(arrivals, workload.Arrival{At: time.Duration(at), Importance: int32(i)})
			}
			sources = append(sources, workload.Slice(arrivals))
			want = append(want, arrivals...)
		}
		slices.SortStableFunc(want, func(a, b workload.Arrival) int { return int(a.At - b.At) })
		got := drain(t, workload.Merge(sources...))
		if len(got) != len(want) {
			t.Fatalf("%d arrivals, want %d", len(got), len(want))
		}
		for i := range want {
			want[i].N = int64(i)
			if got[i] != want[i] {
				t.Fatalf("arrival %d is %v, want %v", i, got[i], want[i])
			}
		}
	})
}

func TestScaleKeepsTheShape(t *testing.T) {
	original := make([]workload.Arrival, 10_000)
	for i := range original {
		original[i] = workload.Arrival{At: time.Duration(i/100) * time.Second, Cost: int64(i)}
	}
	for _, c := range []struct {
		k         float64
		low, high int
	}{{1, 10_000, 10_000}, {2, 20_000, 20_000}, {0.5, 4_750, 5_250}, {2.5, 24_750, 25_250}, {1e-6, 0, 2}} {
		got := drain(t, must(workload.Scale(workload.Slice(original), c.k, 1, "x")))
		if len(got) < c.low || len(got) > c.high {
			t.Errorf("scaled by %v: %d arrivals, want %d to %d", c.k, len(got), c.low, c.high)
		}
		for _, a := range got {
			from := original[a.Cost].At
			if a.At < from || a.At > from+time.Second {
				t.Fatalf("scaled by %v: the arrival of %v came at %v", c.k, from, a.At)
			}
		}
	}
}

func TestSpeedUntilTakeAndWithService(t *testing.T) {
	arrivals := []workload.Arrival{{At: 0}, {At: time.Second}, {At: 3 * time.Second}}
	if got := drain(t, must(workload.Speed(workload.Slice(arrivals), 2))); got[1].At != 500*time.Millisecond || got[2].At != 1500*time.Millisecond {
		t.Errorf("at twice the speed: %v", got)
	}
	if got := drain(t, workload.Until(workload.Slice(arrivals), 3*time.Second)); len(got) != 2 {
		t.Errorf("until 3s: %v", got)
	}
	if got := drain(t, workload.Take(workload.Slice(arrivals), 1)); len(got) != 1 {
		t.Errorf("one was to be taken: %v", got)
	}
	if got := drain(t, workload.WithService(workload.Slice(arrivals), must(workload.ParseService("5ms")), 1, "")); got[2].Service != 5*time.Millisecond {
		t.Errorf("with 5ms: %v", got)
	}
	if got := drain(t, workload.WithClass(workload.Slice(arrivals), 3)); got[2].Class != 3 {
		t.Errorf("with class 3: %v", got)
	}
	for _, k := range []float64{0, -1, math.NaN(), math.Inf(1), 1e7} {
		if _, err := workload.Speed(workload.Slice(arrivals), k); err == nil {
			t.Errorf("speed %v was accepted", k)
		}
		if _, err := workload.Scale(workload.Slice(arrivals), k, 1, ""); err == nil {
			t.Errorf("scale %v was accepted", k)
		}
	}
}

type failing struct{ err error }

func (f failing) Next(*workload.Arrival) bool { return false }
func (f failing) Err() error                  { return f.err }

func TestErrReachesThroughEveryWrapper(t *testing.T) {
	broken := errors.New("disk on fire")
	s := workload.Merge(workload.Slice(nil), must(workload.Scale(must(workload.Speed(workload.Until(failing{broken}, 1), 2)), 2, 1, "")))
	drain(t, s)
	if err := workload.Err(s); !errors.Is(err, broken) {
		t.Errorf("Err is %v", err)
	}
}

func TestAFullTableNamesTheRestOther(t *testing.T) {
	names := workload.NewNames()
	for i := range workload.DefaultTableSize + 10 {
		names.Tenants.ID(string(rune('a'+i%26)) + time.Duration(i).String())
	}
	if got := names.Tenants.Len(); got > workload.DefaultTableSize+1 {
		t.Errorf("the table holds %d names", got)
	}
	if got := names.Tenants.String(names.Tenants.IDBytes([]byte("one more"))); got != workload.Other {
		t.Errorf("one more name is called %q", got)
	}
}

func TestSpecRefusesNonsense(t *testing.T) {
	for _, s := range []workload.Spec{{For: -1}, {Deadline: -1}, {Cost: -1}, {Bytes: -1}, {Sessions: -1}} {
		if _, err := s.Source(workload.NewNames()); err == nil {
			t.Errorf("%+v was accepted", s)
		}
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	_, s := richSource(t)
	var a workload.Arrival
	if n := testing.AllocsPerRun(1000, func() { s.Next(&a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkNext(b *testing.B) {
	s := must(workload.Spec{
		Seed: 1, Rate: must(workload.ConstantRate(1000)),
		Tenants: must(workload.ParseMix("acme=8,beta=1")),
		Service: must(workload.ParseService("lognormal:mean=100ms,p99=400ms")),
	}.Source(workload.NewNames()))
	var a workload.Arrival
	b.ReportAllocs()
	for b.Loop() {
		s.Next(&a)
	}
}
