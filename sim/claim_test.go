package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// DESIGN's promise: a service that is offered twice, five times, ten times what
// it can do keeps answering, and says no before anybody waits. How near to its
// capacity it stays depends on how much service times scatter: who waited and
// is started may still draw one that is too long. With exponential times one in
// twenty exceeds the whole budget, so that nobody could do better than 95 %.
func TestOverloadIsRefusedAtAdmission(t *testing.T) {
	for _, c := range []struct {
		law           string
		goodput       float64 // of capacity, at the least
		refusedWaited float64 // share of those let in that are refused after a wait, at the most
	}{
		{"100ms", 0.994, 0}, // what the warm-up let in is answered in the window and not counted
		{"uniform:80ms-120ms", 0.98, 0.02},
		{"lognormal:mean=100ms,p99=150ms", 0.97, 0.02},
		{"lognormal:mean=100ms,p99=250ms", 0.96, 0.03},
		{"exp:100ms", 0.92, 0.08},
	} {
		for _, factor := range []float64{2, 5, 10} {
			t.Run(fmt.Sprintf("%s, %vx", c.law, factor), func(t *testing.T) {
				names := workload.NewNames()
				r := play(t, sim.Scenario{
					Seed: 1, For: 60 * time.Second, WarmUp: 5 * time.Second, Names: names,
					Resources: []sim.Resource{{Boundary: strict(checkout()), Upstream: sim.Upstream{Slots: 40, Service: service(c.law)}}},
					Streams:   []sim.Stream{{Source: poisson(names, "checkout", 400*factor, 0)}},
				})
				g := r.Report.Classes["checkout"]
				if share := float64(g.GoodputPerS) / 400; share < c.goodput {
					t.Errorf("goodput is %.1f %% of capacity, want %.1f %%", 100*share, 100*c.goodput)
				}
				if g.P99Ms > 300 {
					t.Errorf("p99 is %v ms, over the budget of 300", g.P99Ms)
				}
				if g.RefusedP99Ms != 0 {
					t.Errorf("refusals at admission took %v ms", g.RefusedP99Ms)
				}
				let := g.Reasons["served"] + g.Reasons["timeout"] + g.Reasons["expired"]
				if waited := float64(g.Reasons["expired"]+g.Reasons["evicted"]) / float64(let); waited > c.refusedWaited {
					t.Errorf("%.1f %% of those let in were refused after a wait, want %.1f %%", 100*waited, 100*c.refusedWaited)
				}
			})
		}
	}
}

// A flood of analytics, ten times what its slots can do, leaves checkout as it
// was: classes share an upstream and no queue.
func TestAFloodBesideCheckoutDoesNotTouchIt(t *testing.T) {
	run := func(flood float64) *report.Group {
		names := workload.NewNames()
		analytics := boundary.Class{Name: "analytics", Deadline: 2 * time.Second, Pool: pool.Config{Slots: 8, Latency: time.Second, WhenFull: pool.Drop}}
		s := sim.Scenario{
			Seed: 1, For: 60 * time.Second, WarmUp: 5 * time.Second, Names: names,
			Resources: []sim.Resource{{
				Boundary: strict(checkout(), analytics),
				Upstream: sim.Upstream{Slots: 48, Service: service("lognormal:mean=100ms,p99=150ms")},
			}},
			Streams: []sim.Stream{{Source: poisson(names, "checkout", 360, 0), Class: "checkout"}},
		}
		if flood > 0 {
			s.Streams = append(s.Streams, sim.Stream{Source: poisson(names, "analytics", flood, 0), Class: "analytics"})
		}
		return play(t, s).Report.Classes["checkout"]
	}
	calm, flooded := run(0), run(800)
	if flooded.P99Ms != calm.P99Ms || flooded.GoodputPerS != calm.GoodputPerS {
		t.Errorf("with the flood p99 %v ms and goodput %v/s, without %v and %v", flooded.P99Ms, flooded.GoodputPerS, calm.P99Ms, calm.GoodputPerS)
	}
	if flooded.P99Ms > 300 || flooded.GoodputPerS < 350 {
		t.Errorf("checkout at 90 %%: p99 %v ms, goodput %v/s", flooded.P99Ms, flooded.GoodputPerS)
	}
}

// Without a boundary the same service at twice its capacity does work for
// callers who have left, and answers next to nobody.
func TestUnprotectedTheServiceDrowns(t *testing.T) {
	names := workload.NewNames()
	r := play(t, sim.Scenario{
		Seed: 1, For: 30 * time.Second, WarmUp: 5 * time.Second, Names: names, Unprotected: true,
		Resources: []sim.Resource{{Boundary: strict(checkout()), Upstream: sim.Upstream{Slots: 40, Service: service("100ms")}}},
		Streams:   []sim.Stream{{Source: poisson(names, "checkout", 800, 0)}},
	})
	if g := r.Report.GoodputPerS; g > 4 {
		t.Errorf("goodput is %v/s, want less than 1 %% of 400", g)
	}
	if u := r.Resources[0].UsefulShare(); u > 0.02 {
		t.Errorf("%v of the work was for callers who still waited", u)
	}
	if n := r.Resources[0].LineMost; n < 10_000 {
		t.Errorf("at most %d stood in line, want the excess of half a minute", n)
	}
}

// What must hold of any sane service: more slots serve no fewer, a longer
// patience loses no more, less work to offer waits no longer.
func TestMoreIsNoLess(t *testing.T) {
	run := func(slots int, perSecond float64, deadline time.Duration) *report.Group {
		names := workload.NewNames()
		cl := checkout()
		cl.Pool.Slots, cl.Deadline = slots, deadline
		return play(t, sim.Scenario{
			Seed: 1, For: 60 * time.Second, Names: names,
			Resources: []sim.Resource{{Boundary: strict(cl), Upstream: sim.Upstream{Slots: slots, Service: service("lognormal:mean=100ms,p99=150ms")}}},
			Streams:   []sim.Stream{{Source: poisson(names, "checkout", perSecond, 0)}},
		}).Report.Classes["checkout"]
	}
	const slack = 1.02 // of chance: every run draws its own
	for _, perSecond := range []float64{200, 400, 800} {
		few, many := run(20, perSecond, 300*ms), run(40, perSecond, 300*ms)
		if few.GoodputPerS > slack*many.GoodputPerS {
			t.Errorf("%v/s: 20 slots serve %v/s, 40 serve %v/s", perSecond, few.GoodputPerS, many.GoodputPerS)
		}
		short, long := run(40, perSecond, 200*ms), run(40, perSecond, 600*ms)
		if short.GoodputPerS > slack*long.GoodputPerS {
			t.Errorf("%v/s: within 200ms %v/s are served, within 600ms %v/s", perSecond, short.GoodputPerS, long.GoodputPerS)
		}
	}
	if light, heavy := run(40, 300, 300*ms), run(40, 390, 300*ms); light.QueueWaitP99Ms > heavy.QueueWaitP99Ms {
		t.Errorf("at 300/s one in a hundred waits %v ms, at 390/s %v ms", light.QueueWaitP99Ms, heavy.QueueWaitP99Ms)
	}
}
