package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// storm plays Bronson's metastable failure (HotOS 2021): three servers that can
// do 300/s nearly stop for ten seconds, callers time out after one second and
// try again. It returns the goodput long after the trigger is gone, and how many
// seconds after it all of the load is served again.
func storm(t *testing.T, perSecond float64, callers sim.Callers, protected bool) (goodput float64, recovery int) {
	t.Helper()
	names := workload.NewNames()
	cl := boundary.Class{
		Name: "db", Deadline: time.Second, DeadlineMax: time.Second,
		Pool: pool.Config{Slots: 3, Latency: time.Second, Service: 10 * time.Millisecond},
	}
	var served [300]float64 // by second
	play(t, sim.Scenario{
		Seed: 1, For: 300 * time.Second, Names: names, Unprotected: !protected,
		Resources: []sim.Resource{{Boundary: strict(cl), Upstream: sim.Upstream{
			Slots: 3, Service: service("exp:10ms"), Conditions: must(workload.ParseConditions("x1000@60s+10s")),
		}}},
		Streams: []sim.Stream{{Source: poisson(names, "db", perSecond, 0), Callers: callers}},
		Record: func(rec *sim.Record) {
			if second := int(rec.Answered / unit.Instant(time.Second)); rec.Reason == reason.Served && second < len(served) {
				served[second]++
			}
		},
	})
	mean := func(seconds []float64) float64 {
		sum := 0.0
		for _, n := range seconds {
			sum += n
		}
		return sum / float64(len(seconds))
	}
	for recovery < 220 && mean(served[70+recovery:80+recovery]) < 0.95*perSecond {
		recovery++
	}
	return mean(served[150:]), recovery
}

// A trigger long gone keeps a service down wherever load x attempts exceeds
// what it can do, and nowhere else.
func TestRetriesKeepAnUnprotectedServiceDown(t *testing.T) {
	for _, c := range []struct {
		perSecond float64
		retries   int
		collapses bool
	}{
		{120, 1, false}, {160, 1, true}, {240, 1, true}, {280, 1, true},
		{120, 3, true}, {160, 3, true}, {240, 3, true}, {280, 3, true},
		{50, 3, false},
	} {
		t.Run(fmt.Sprintf("%v/s, %d retries", c.perSecond, c.retries), func(t *testing.T) {
			got, _ := storm(t, c.perSecond, sim.Callers{Retries: c.retries}, false)
			t.Logf("%.0f/s", got)
			switch {
			case c.collapses && got > 0.2*c.perSecond:
				t.Errorf("%.0f/s are served, it should be down", got)
			case !c.collapses && got < 0.95*c.perSecond:
				t.Errorf("%.0f/s are served, it should have recovered", got)
			}
		})
	}
}

// A retry budget of 10 % moves the border to 300/1.1 = 273/s and no further.
func TestARetryBudgetMovesTheBorder(t *testing.T) {
	budget := sim.Callers{Retries: 3, Budget: sim.Budget{Share: 0.1, Burst: 10}}
	if got, _ := storm(t, 160, budget, false); got < 150 {
		t.Errorf("at 160/s %.0f/s are served, it should have recovered", got)
	}
	if got, _ := storm(t, 280, budget, false); got > 50 {
		t.Errorf("at 280/s %.0f/s are served, it should be down", got)
	}
}

// The same callers, the same trigger, a boundary in front: within ten seconds
// all of the load is served again, at 93 % of what the service can do too.
func TestABoundaryEndsTheStorm(t *testing.T) {
	for _, perSecond := range []float64{120, 160, 240, 280} {
		for _, retries := range []int{1, 3} {
			got, recovery := storm(t, perSecond, sim.Callers{Retries: retries}, true)
			t.Logf("%v/s, %d retries: %.0f/s, recovered after %d s", perSecond, retries, got, recovery)
			if got < 0.95*perSecond || recovery > 10 {
				t.Errorf("%v/s, %d retries: %.0f/s are served, %d s after the trigger all of it; want 95 %% at least, 10 s at most", perSecond, retries, got, recovery)
			}
		}
	}
}
