package script_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/tally"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// What a live gate in shadow counts is what the simulator says of the same
// requests in force: the same instants, service times, tenants and sessions, at
// twice what the slots can do, and with half of the sessions in force too. The
// counts are equal by class and tenant, to the request.
func TestASimulationAgreesWithWhatShadowCounted(t *testing.T) {
	cfg := boundary.Config{Name: "app", Seed: 3, Classes: []boundary.Class{{
		Name: "checkout", Deadline: 400 * time.Millisecond,
		Pool: pool.Config{Slots: 20, Latency: 300 * time.Millisecond, Service: 50 * time.Millisecond,
			Tenants: pool.TenantConfig{Policy: fair.DRR, Weights: map[string]int{"acme": 2}, Timed: true}},
	}}}
	service := must(workload.ParseService("lognormal:mean=50ms,p99=200ms"))
	spec := workload.Spec{
		Seed: 5, Stream: "load", Rate: must(workload.ParseRate("800")), For: 10 * time.Second,
		Tenants: must(workload.ParseMix("noisy=6,acme=3,beta=1")), Sessions: 200, Service: service,
	}
	names := workload.NewNames()
	wanted := simulate(t, cfg, must(spec.Source(names)), names)
	if c := &wanted.Tally; c.Answered[reason.Served] < 3000 || c.Answered[reason.Served] > 5000 || c.Answered[reason.TenantFull]+c.Answered[reason.QueueFull] < 2000 {
		t.Fatalf("that is no overload: %s", answers(c))
	}
	for name, mode := range map[string]boundary.Mode{
		"shadow": {Kind: boundary.Shadow}, "half of it": {Kind: boundary.Part, Share: 500_000},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Classes[0].Mode = mode
			c, tenants := record(t, cfg, must(spec.Source(names)), names)
			if c.Shadow.Tally != wanted.Tally {
				t.Errorf("the simulator has %s,\nthe shadow %s", answers(&wanted.Tally), answers(&c.Shadow.Tally))
			}
			if mode.Kind == boundary.Shadow && c.Tally.Answered[reason.Served] != c.Tally.Offered {
				t.Errorf("in shadow it happened that %s", answers(&c.Tally))
			}
			var sum tally.Tally
			for _, s := range tenants {
				if s.Shadow != nil {
					sum.Add(s.Shadow)
				}
			}
			if sum != c.Shadow.Tally {
				t.Errorf("the tenants' shadows add up to %s, the class's is %s", answers(&sum), answers(&c.Shadow.Tally))
			}
		})
	}
}

// simulate returns what the simulator makes of the requests, in force.
func simulate(t *testing.T, cfg boundary.Config, source workload.Source, names *workload.Names) boundary.ClassState {
	t.Helper()
	result, err := sim.Run(sim.Scenario{
		Names: names, Resources: []sim.Resource{{Boundary: cfg}}, Streams: []sim.Stream{{Source: source}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result.Resources[0].Classes[0]
}

// record has the requests go through a gate in virtual time, each working for
// as long as it takes.
func record(t *testing.T, cfg boundary.Config, source workload.Source, names *workload.Names) (c boundary.ClassState, tenants []boundary.TenantState) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g, err := gate.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var all sync.WaitGroup
		for a := new(workload.Arrival); source.Next(a); {
			time.Sleep(a.At - time.Since(start))
			r := gate.Request{Tenant: names.Tenants.String(a.Tenant), Session: a.Session, Cost: a.Cost}
			takes := a.Service
			all.Go(func() {
				if p, err := g.Acquire(context.Background(), r); err == nil {
					time.Sleep(takes)
					p.Done()
				}
			})
			synctest.Wait()
		}
		all.Wait()
		time.Sleep(time.Minute) // twins wait for their turns
		if err := g.Check(); err != nil || g.Bugs() > 0 {
			t.Errorf("%d bugs, %v", g.Bugs(), err)
		}
		c = g.States()[0]
		tenants, _ = g.Tenants(0)
		g.Close()
	})
	return c, tenants
}
