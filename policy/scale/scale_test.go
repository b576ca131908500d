package scale_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/scale"
	"github.com/spillway-dev/spillway/policy/unit"
)

// stretch is a time in which a resource is offered so much a second.
type stretch struct {
	lasts   time.Duration
	rate    float64
	holding time.Duration
	slots   int
	outage  bool // nothing of it comes to anything
}

// play looks once a second and returns the reading at the end of each stretch.
func play(c scale.Config, all ...stretch) (at []scale.Reading) {
	s := scale.New(c)
	var now unit.Instant
	var offered, served, lost float64
	r := s.Look(now, scale.Facts{Slots: all[0].slots})
	for _, x := range all {
		for range int(x.lasts / time.Second) {
			now = now.Add(time.Second)
			offered += x.rate
			if x.outage {
				lost += max(x.rate, 1) // a probe at the least
			} else if x.holding > 0 {
				served += min(x.rate, float64(x.slots)/x.holding.Seconds())
			}
			r = s.Look(now, scale.Facts{Offered: int64(offered), Served: int64(served), Faults: int64(lost), Holding: x.holding, Slots: x.slots})
		}
		at = append(at, r)
	}
	return at
}

func near(a, b float64) bool { return math.Abs(a-b) <= 0.02*math.Abs(b)+1e-9 }

const ms = time.Millisecond

// What is offered counts, whatever of it is served: the same facts hold for a service that
// refuses two of three.
func TestDemand(t *testing.T) {
	for name, c := range map[string]struct {
		stretch
		demand, desired, ratio float64
		weight, replicas       int
	}{
		"idle":                     {stretch{time.Minute, 0, 0, 10, false}, 0, 0, 0, 100, 1},
		"half":                     {stretch{time.Minute, 50, 100 * ms, 10, false}, 5, 6.25, 0.625, 100, 1},
		"as full as it should be":  {stretch{time.Minute, 80, 100 * ms, 10, false}, 8, 10, 1, 100, 1},
		"three times its capacity": {stretch{time.Minute, 300, 100 * ms, 10, false}, 30, 37.5, 3.75, 33, 4},
		"all that it has":          {stretch{time.Minute, 100, 100 * ms, 10, false}, 10, 12.5, 1.25, 100, 2},
		"no slots":                 {stretch{time.Minute, 300, 100 * ms, 0, false}, 30, 37.5, 0, 100, 4},
	} {
		r := play(scale.Config{}, c.stretch)[0]
		if !near(r.Demand, c.demand) || !near(r.Desired, c.desired) || !near(r.Ratio, c.ratio) || r.Weight() != c.weight || r.Replicas(10) != c.replicas {
			t.Errorf("%s: %+v, weight %d, %d copies; want %v, %v, %v, %d, %d", name, r, r.Weight(), r.Replicas(10), c.demand, c.desired, c.ratio, c.weight, c.replicas)
		}
		if r.Measured != (c.rate > 0) {
			t.Errorf("%s: measured is %v", name, r.Measured)
		}
	}
}

// It rises within Rise and falls only after Fall.
func TestUpSoonDownLate(t *testing.T) {
	busy := stretch{time.Minute, 400, 100 * ms, 10, false}
	quiet := func(d time.Duration) stretch { return stretch{d, 40, 100 * ms, 10, false} }
	r := play(scale.Config{Utilisation: 1}, quiet(5*time.Minute), stretch{15 * time.Second, 400, 100 * ms, 10, false}, busy, quiet(4*time.Minute), quiet(3*time.Minute))
	if r[1].Desired < 20 {
		t.Errorf("after 15 s of ten times as much %v are desired, want more than half of 40", r[1].Desired)
	}
	for i, want := range []float64{4, 0, 40, 40, 4} {
		if i != 1 && !near(r[i].Desired, want) {
			t.Errorf("stretch %d: %v desired, want %v", i, r[i].Desired, want)
		}
	}
	if !near(r[3].Demand, 4) {
		t.Errorf("the demand of a quiet time is %v, want 4", r[3].Demand)
	}
}

// In an outage the figure stays, whether callers give up or come back again and again,
// and whether failures are fast or slow; after Hold it follows again and says that it is
// not measured.
func TestAnOutageHoldsTheFigure(t *testing.T) {
	before := stretch{10 * time.Minute, 200, 100 * ms, 25, false}
	for name, in := range map[string]stretch{
		"callers give up":       {10 * time.Minute, 5, ms, 25, true},
		"callers retry":         {10 * time.Minute, 2000, 0, 25, true},
		"failures take long":    {10 * time.Minute, 200, 30 * time.Second, 25, true},
		"nobody comes any more": {10 * time.Minute, 0, 0, 25, true},
	} {
		long := in
		long.lasts = 22 * time.Minute
		back := in
		back.lasts, back.outage, back.holding = 2*time.Second, false, 100*ms // before its callers are
		r := play(scale.Config{Utilisation: 1}, before, in, back, before)
		if !near(r[1].Desired, 20) || r[1].Measured {
			t.Errorf("%s: %+v, want 20 slots that are not measured", name, r[1])
		}
		if !near(r[2].Desired, 20) {
			t.Errorf("%s: as it is over %+v, want 20 slots still", name, r[2])
		}
		if !near(r[3].Desired, 20) || !r[3].Measured {
			t.Errorf("%s: afterwards %+v, want 20 slots, measured", name, r[3])
		}
		if r := play(scale.Config{Utilisation: 1}, before, long)[1]; r.Measured || !near(r.Desired, in.rate*0.1) {
			t.Errorf("%s, for longer than it is held: %+v, want %v slots by the last holding time that could be told", name, r, in.rate*0.1)
		}
	}
}

// A counter that begins again, looks too soon and a clock that stands still give nothing
// absurd.
func TestOddLooks(t *testing.T) {
	s := scale.New(scale.Config{})
	for i, f := range []int64{1000, 1000, 5, 10, 10} {
		for range 3 {
			r := s.Look(unit.Instant(i)*unit.Instant(time.Second), scale.Facts{Offered: f, Holding: ms, Slots: 1})
			if !(r.OfferedPerS >= 0 && r.OfferedPerS <= 5) {
				t.Errorf("look %d: %+v", i, r)
			}
		}
	}
}

// Whatever happens: no figure is negative or absurd, and desired is never below what the
// demand asks for.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scale.New(scale.Config{
			Utilisation: rapid.Float64().Draw(t, "utilisation"),
			Rise:        time.Duration(rapid.Int64Range(-1, int64(time.Hour)).Draw(t, "rise")),
			Fall:        time.Duration(rapid.Int64Range(-1, int64(time.Hour)).Draw(t, "fall")),
		})
		now := unit.Instant(rapid.Int64().Draw(t, "start") / 4)
		var offered, served, lost int64
		for range rapid.IntRange(1, 50).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "passes")))
			offered += rapid.Int64Range(0, 1e6).Draw(t, "offered")
			served, lost = served+rapid.Int64Range(0, 1e6).Draw(t, "served"), lost+rapid.Int64Range(0, 1e6).Draw(t, "lost")
			f := scale.Facts{
				Offered: offered, Served: served, Faults: lost, Holding: time.Duration(rapid.Int64Range(-1, int64(time.Minute)).Draw(t, "holding")),
				Slots: rapid.IntRange(0, 1000).Draw(t, "slots"),
			}
			r := s.Look(now, f)
			for _, v := range []float64{r.OfferedPerS, r.Demand, r.Desired, r.Ratio, r.Load} {
				if !(v >= 0) || math.IsInf(v, 0) {
					t.Fatalf("%+v of %+v", r, f)
				}
			}
			if r.Desired < r.Demand {
				t.Fatalf("%+v: less is desired than demanded", r)
			}
			if w := r.Weight(); w < 1 || w > 100 {
				t.Fatalf("a weight of %d", w)
			}
		}
	})
}

func BenchmarkLook(b *testing.B) {
	s := scale.New(scale.Config{})
	b.ReportAllocs()
	for i := range b.N {
		s.Look(unit.Instant(i)*unit.Instant(time.Second), scale.Facts{Offered: int64(i) * 100, Holding: ms, Slots: 10})
	}
}

func ExampleSignal() {
	// 10 slots that are held for 100 ms each serve 100 a second. Offered are 300, of which
	// 200 are refused.
	s := scale.New(scale.Config{})
	var r scale.Reading
	for second := range 61 {
		r = s.Look(unit.Instant(second)*unit.Instant(time.Second), scale.Facts{
			Offered: int64(second) * 300, Served: int64(second) * 100, Holding: 100 * time.Millisecond, Slots: 10,
		})
	}
	fmt.Printf("%.0f slots would be held, %.1f are desired: %d copies instead of one\n", r.Demand, r.Desired, r.Replicas(10))
	// Output:
	// 30 slots would be held, 37.5 are desired: 4 copies instead of one
}
