package limit

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// resource is a closed loop: as many calls as the limit allows run at all times. Up
// to its capacity each takes its service time, beyond that they wait for each other.
type resource struct {
	capacity int
	service  time.Duration
	luck     chance.Source
	now      unit.Instant
}

// end has one call end.
func (r *resource) end(l Limiter, route int, why reason.Reason) {
	running := l.Limit()
	took := r.service
	if running > r.capacity {
		took = took * time.Duration(running) / time.Duration(r.capacity)
	}
	took = took/2 + time.Duration(r.luck.Below(int64(took)))
	r.now = r.now.Add(r.service / time.Duration(min(running, r.capacity)))
	l.Ended(r.now, Sample{Held: took, Running: running, Route: route, Outcome: why})
}

func (r *resource) ends(l Limiter, n int) {
	for range n {
		r.end(l, 0, reason.Served)
	}
}

func newResource(capacity int) *resource {
	return &resource{capacity: capacity, service: 20 * time.Millisecond, luck: chance.New(1)}
}

// copyOf is a limiter in the same state.
func copyOf(k *knee) *knee { c := *k; return &c }

// drawn is a limiter that has lived through something.
func drawn(t *rapid.T) (*knee, *resource) {
	c := Config{
		Law: Knee, Seed: rapid.Uint64().Draw(t, "seed"), Start: rapid.IntRange(1, 200).Draw(t, "start"),
		Floor: rapid.IntRange(1, 20).Draw(t, "floor"), Ceiling: rapid.IntRange(20, 400).Draw(t, "ceiling"),
	}
	k := newKnee(c.WithDefaults())
	r := newResource(rapid.IntRange(1, 300).Draw(t, "capacity"))
	for range rapid.IntRange(0, 5).Draw(t, "changes") {
		switch rapid.IntRange(0, 3).Draw(t, "change") {
		case 0:
			r.capacity = rapid.IntRange(1, 300).Draw(t, "capacity")
		case 1:
			r.service = time.Duration(rapid.IntRange(1, 200).Draw(t, "service")) * time.Millisecond
		case 2:
			for range rapid.IntRange(0, 300).Draw(t, "drops") {
				r.end(k, 0, reason.Timeout)
			}
		case 3:
			r.now = r.now.Add(time.Hour)
		}
		r.ends(k, rapid.IntRange(0, 4000).Draw(t, "ends"))
	}
	return k, r
}

// fill ends calls that all take so many times their baseline until their window is
// judged.
func fill(k *knee, r *resource, times float64) {
	for {
		r.now = max(r.now, k.settled).Add(time.Millisecond)
		before := k.w.ended()
		k.Ended(r.now, Sample{Held: time.Duration(k.of[0].baseline * times), Running: k.Limit(), Outcome: reason.Served})
		if k.w.ended() <= before {
			return
		}
	}
}

// For one state the next limit is never larger where latency is: a slip in a sign or a
// ratio turned over is an overload. A limit that was lowered to see whether calls
// become quicker is taken back where they do not, and never beyond where it was.
func TestALargerLatencyNeverMakesALargerLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, r := drawn(t)
		if k.of[0].baseline == 0 {
			return
		}
		less := rapid.Float64Range(0.9, 5).Draw(t, "latency") // far below the baseline that is no longer the same
		more := less + rapid.Float64Range(0, 5).Draw(t, "more")
		a, b, at := copyOf(k), copyOf(k), r.now
		a.begin(at, false)
		b.begin(at, false)
		fill(a, &resource{now: at}, less)
		fill(b, &resource{now: at}, more)
		if k.doing == cutting || k.doing == looking {
			if most := reach(k) * (1 + 1e-9); a.level > most || b.level > most {
				t.Fatalf("%s: from %v, lowered from %v, to %v and %v", doingNames[k.doing], k.level, k.base, a.level, b.level)
			}
			return
		}
		if reach(b) > reach(a)*(1+1e-9) {
			t.Fatalf("%s at %v: latency %v gives %v, latency %v gives %v", doingNames[k.doing], k.level, less, reach(a), more, reach(b))
		}
	})
}

// reach is the limit, or what it goes back to from a look.
func reach(k *knee) float64 {
	if k.doing == cutting || k.doing == looking {
		return max(k.level, k.base)
	}
	return k.level
}

// Where latency exceeds the baseline by the tolerance, the limit does not rise.
func TestNoRiseAboveTheTolerance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, r := drawn(t)
		if k.of[0].baseline == 0 {
			return
		}
		for range 20 {
			before, known := reach(k), !k.fresh
			fill(k, r, rapid.Float64Range(2, 20).Draw(t, "latency"))
			if known && k.level > before*(1+1e-9) && k.usual >= 2 {
				t.Fatalf("%s: %v, and was %v; latency is %v baselines", doingNames[k.doing], k.level, before, k.usual)
			}
		}
	})
}

// Whatever happens the limit stays inside its bounds, and what is shown is a number.
func TestTheLimitStaysInsideItsBounds(t *testing.T) {
	for _, law := range []Law{Knee, AIMD, Vegas, Gradient2, MinRTT} {
		rapid.Check(t, func(t *rapid.T) {
			c := Config{
				Law: law, Floor: rapid.IntRange(1, 50).Draw(t, "floor"), Ceiling: rapid.IntRange(50, 100).Draw(t, "ceiling"),
				Start: rapid.IntRange(0, 200).Draw(t, "start"),
			}
			l := New(c)
			var now unit.Instant
			for range rapid.IntRange(1, 2000).Draw(t, "samples") {
				now += unit.Instant(rapid.Int64Range(0, int64(time.Second)).Draw(t, "passes"))
				l.Ended(now, Sample{
					Held: time.Duration(rapid.Int64().Draw(t, "held")), Running: rapid.IntRange(0, 200).Draw(t, "running"),
					Route: rapid.Int().Draw(t, "route"), Outcome: rapid.SampledFrom(reason.All()).Draw(t, "outcome"),
				})
				if n := l.Limit(); n < c.Floor || n > c.Ceiling {
					t.Fatalf("%v: a limit of %d; it is from %d to %d", law, n, c.Floor, c.Ceiling)
				}
				if s := l.State(); math.IsNaN(s.Latency) || s.Baseline < 0 || s.Law != law {
					t.Fatalf("%+v", s)
				}
			}
		})
	}
}

// It finds the capacity of a resource whatever that is, from above and from below.
func TestItFindsTheCapacity(t *testing.T) {
	for _, capacity := range []int{5, 25, 100, 400} {
		for _, start := range []int{20, 200} {
			k := newKnee(Config{Law: Knee, Start: start}.WithDefaults())
			r := newResource(capacity)
			r.ends(k, 2000*capacity)
			sum := 0.0
			for range 100 * capacity {
				r.ends(k, 1)
				sum += k.level
			}
			if mean := sum / float64(100*capacity); math.Abs(mean-float64(capacity)) > max(0.1*float64(capacity), 1) {
				t.Errorf("capacity %d, from %d: %.1f in the mean; %+v", capacity, start, mean, k.State())
			}
		}
	}
}

// What says nothing of the resource changes nothing.
func TestWhatIsNoSample(t *testing.T) {
	for _, why := range reason.All() {
		s := Sample{Outcome: why}
		if v := s.says(); v == answered || v == dropped || v == failed {
			continue
		}
		k := newKnee(Config{Law: Knee}.WithDefaults())
		r := newResource(100)
		r.ends(k, 3000)
		before := *k
		for range 500 {
			k.Ended(r.now, Sample{Held: time.Minute, Running: 3, Outcome: why})
		}
		if *k != before {
			t.Errorf("%v moved something", why)
		}
	}
}

// A call that is broken off before it has taken longer than usual had little of its
// deadline left when it began.
func TestALateStarterIsNoDrop(t *testing.T) {
	k := newKnee(Config{Law: Knee}.WithDefaults())
	r := newResource(100)
	r.ends(k, 5000)
	before := k.level
	for range 1000 {
		k.Ended(r.now, Sample{Held: 10 * time.Millisecond, Running: 100, Outcome: reason.Timeout})
	}
	if k.level != before {
		t.Errorf("from %v to %v", before, k.level)
	}
}

// An heir goes on where the other one was, whatever it is given.
func TestAnHeirGoesOn(t *testing.T) {
	k := newKnee(Config{Law: Knee}.WithDefaults())
	r := newResource(300)
	r.ends(k, 50_000)
	heir := New(Config{Law: Knee})
	heir.Import(k.Export())
	if got, want := heir.Limit(), k.Limit(); got < want-want/5 || heir.State().Baseline != k.State().Baseline {
		t.Errorf("the heir begins with %+v, the other had %+v", heir.State(), k.State())
	}
	for _, m := range []Measured{{}, {Limit: math.NaN()}, {Limit: math.Inf(1)}, {Limit: -5}, {Baselines: []time.Duration{-1, 0}},
		{Limit: 5, Baselines: make([]time.Duration, 100)}} {
		l := New(Config{Law: Knee, Ceiling: 50})
		l.Import(m)
		if n := l.Limit(); n < 1 || n > 50 {
			t.Errorf("%+v: a limit of %d", m, n)
		}
		newResource(10).ends(l, 1000)
	}
}

func TestASampleAllocatesNothing(t *testing.T) {
	for _, law := range []Law{Knee, AIMD, Vegas, Gradient2, MinRTT} {
		l, r := New(Config{Law: law}), newResource(100)
		if n := testing.AllocsPerRun(20_000, func() { r.end(l, 3, reason.Served) }); n != 0 {
			t.Errorf("%v: %v allocations a sample", law, n)
		}
	}
}

func BenchmarkEnded(b *testing.B) {
	for _, law := range []Law{Knee, AIMD, Vegas, Gradient2, MinRTT} {
		b.Run(law.String(), func(b *testing.B) {
			l, r := New(Config{Law: law}), newResource(100)
			for b.Loop() {
				r.end(l, 0, reason.Served)
			}
		})
	}
}
