package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// Whatever is wrong with a scenario is one line that says what.
func TestScenarioFaults(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*sim.Scenario)
	}{
		{"none may be negative", func(s *sim.Scenario) { s.For = -1 }},
		{"leaves nothing of 1s to count", func(s *sim.Scenario) { s.WarmUp = time.Second }},
		{"samples every 0s", func(s *sim.Scenario) { s.Sample = func(unit.Instant, []*boundary.Machine) {} }},
		{"no names", func(s *sim.Scenario) { s.Names = nil }},
		{"no resources", func(s *sim.Scenario) { s.Resources = nil }},
		{`class "one" is of resource "app" and of "app"`, func(s *sim.Scenario) { s.Resources = append(s.Resources, s.Resources[0]) }},
		{"slots -1", func(s *sim.Scenario) { s.Resources[0].Upstream.Slots = -1 }},
		{"has no classes", func(s *sim.Scenario) { s.Resources[0].Boundary.Classes = nil }},
		{"stream 0 has no source", func(s *sim.Scenario) { s.Streams[0].Source = nil }},
		{`stream 0 is of class "two", which no resource has`, func(s *sim.Scenario) { s.Streams[0].Class = "two" }},
		{"stream 0: callers: -1 retries", func(s *sim.Scenario) { s.Streams[0].Callers.Retries = -1 }},
		{"burst 1 to 1e9", func(s *sim.Scenario) { s.Streams[0].Callers.Budget.Share = 0.1 }},
		{"none may be negative", func(s *sim.Scenario) { s.Streams[0].Callers.Patience = -1 }},
		{"change 0, of resource 1", func(s *sim.Scenario) { s.Changes = []sim.Change{{Resource: 1}} }},
		{"a change adds no classes", func(s *sim.Scenario) {
			cl := one(1)
			cl.Name = "two"
			s.Changes = []sim.Change{{Boundary: strict(cl)}}
		}},
		{`is of class "three", which no resource has`, func(s *sim.Scenario) {
			s.Streams[0].Source = workload.WithClass(at(0), s.Names.Classes.ID("three"))
		}},
		{"has no service time", func(s *sim.Scenario) { s.Streams[0].Source = workload.Slice(make([]workload.Arrival, 1)) }},
	} {
		s := sim.Scenario{
			For: time.Second, Names: workload.NewNames(),
			Resources: []sim.Resource{{Boundary: strict(one(1)), Upstream: sim.Upstream{Slots: 1}}},
			Streams:   []sim.Stream{{Source: at(0)}},
		}
		c.change(&s)
		if _, err := sim.Run(s, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, want %q in it", err, c.want)
		}
	}
}

// A change of configuration applies after the arrivals of its instant, a sample
// sees what came of it.
func TestChangesAndSamples(t *testing.T) {
	wide := one(5)
	wide.Pool.Slots = 3
	var seen []int
	r := play(t, sim.Scenario{
		For: 30 * ms, Until: 30 * ms, SampleEvery: 10 * ms,
		Sample: func(at unit.Instant, machines []*boundary.Machine) {
			s := machines[0].Class(0)
			seen = append(seen, s.Used, s.Waiting)
		},
		Resources: []sim.Resource{{Boundary: strict(one(5)), Upstream: sim.Upstream{Slots: 3}}},
		Streams:   []sim.Stream{{Source: at(0, 0, 0, 0, 0)}},
		Changes:   []sim.Change{{At: 0, Boundary: strict(wide)}},
	})
	if want := []int{3, 2, 2, 0, 0, 0}; !equal(seen, want) {
		t.Errorf("slots held and waiting every 10 ms: %v, want %v", seen, want)
	}
	if r.Ended != 30*ms {
		t.Errorf("the run ended at %v", r.Ended)
	}
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Arrivals of one instant come in the order of their streams, whichever of them
// arrived when before.
func TestArrivalsOfOneInstantComeByStream(t *testing.T) {
	var got []int
	play(t, sim.Scenario{
		Resources: []sim.Resource{{Boundary: strict(one(9)), Upstream: sim.Upstream{Slots: 1}}},
		Streams:   []sim.Stream{{Source: at(4, 5)}, {Source: at(1, 5)}, {Source: at(3, 5)}},
		Record: func(r *sim.Record) {
			if r.Arrived == unit.Instant(5*ms) {
				got = append(got, r.Stream)
			}
		},
	})
	if want := []int{0, 1, 2}; !equal(got, want) {
		t.Errorf("served in the order of streams %v, want %v", got, want)
	}
}

// A run that is cut leaves those waiting and running who were.
func TestUntilCutsTheRun(t *testing.T) {
	r := play(t, sim.Scenario{
		For: 15 * ms, Until: 15 * ms,
		Resources: []sim.Resource{{Boundary: strict(one(5)), Upstream: sim.Upstream{Slots: 1}}},
		Streams:   []sim.Stream{{Source: at(0, 1, 2, 14, 15, 99)}},
	})
	g := r.Report
	if g.Offered != 4 || g.Reasons["served"] != 1 || g.Running != 1 || g.Waiting != 2 {
		t.Errorf("%d offered, %v, %d running, %d waiting; want 4, 1 served, 1, 2", g.Offered, g.Reasons, g.Running, g.Waiting)
	}
	if g.Utilisation != 1 {
		t.Errorf("utilisation is %v, want 1: the slot was never idle", g.Utilisation)
	}
}

func TestOverheadIsTimeThatHoldsNoSlot(t *testing.T) {
	r := play(t, sim.Scenario{
		Overhead: 2 * ms, For: 100 * ms,
		Resources: []sim.Resource{{Boundary: strict(one(5)), Upstream: sim.Upstream{Slots: 1}}},
		Streams:   []sim.Stream{{Source: at(0, 50)}},
	})
	if g := r.Report; g.P50Ms != 12 || g.Utilisation != 0.2 {
		t.Errorf("p50 %v ms, utilisation %v; want 12 ms and 0.2", g.P50Ms, g.Utilisation)
	}
}

func TestProgressGoesUpToTheWhole(t *testing.T) {
	names := workload.NewNames()
	var last time.Duration
	calls := 0
	s := sim.Scenario{
		For: 200 * time.Second, Names: names,
		Resources: []sim.Resource{{Boundary: strict(checkout()), Upstream: sim.Upstream{Slots: 40, Service: service("1ms")}}},
		Streams:   []sim.Stream{{Source: poisson(names, "checkout", 500, 0)}},
	}
	must(sim.Run(s, func(done, total time.Duration) {
		if done < last || total != s.For {
			t.Errorf("%v of %v after %v", done, total, last)
		}
		last = done
		calls++
	}))
	if last != s.For || calls < 3 {
		t.Errorf("told %d times, of %v last", calls, last)
	}
}

// Nothing that waits for the next request costs memory: what is allocated
// follows what is alive at once.
func TestARequestAllocatesNothing(t *testing.T) {
	allocations := func(n int) float64 {
		return testing.AllocsPerRun(1, func() { must(sim.Run(allPolicies(n, 1.3), nil)) })
	}
	few, many := allocations(100_000), allocations(200_000)
	if grown := many - few; grown > 500 { // histograms of tenants, rings that grew
		t.Errorf("100,000 more requests made %v more allocations", grown)
	}
}
