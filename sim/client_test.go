package sim_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// A run limits clients as the gateway does, a tenant being one client: it is on
// the tenant's account, sums close after every event, and who asks within the
// limit notices nothing of who does not.
func TestClientsAreLimitedInARun(t *testing.T) {
	cfg := strict(checkout())
	cfg.Clients = rate.Rule{Burst: 50, Interval: rate.Interval(150)}
	names := workload.NewNames()
	mix, err := workload.ParseMix("flood=4,acme=1,beta=1")
	if err != nil {
		t.Fatal(err)
	}
	source := must(workload.Spec{Seed: 1, Stream: "all", Rate: must(workload.ConstantRate(600)), Tenants: mix}.Source(names))
	r := play(t, sim.Scenario{
		Seed: 1, For: 20 * time.Second, Names: names, Check: true,
		Resources: []sim.Resource{{Boundary: cfg, Upstream: sim.Upstream{Slots: 40, Service: service("100ms")}}},
		Streams:   []sim.Stream{{Source: source}},
	})
	if err := r.Report.Check(); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]struct{ least, most int64 }{"flood": {150*20 - 10, 150*20 + 50}, "acme": {1900, 2100}, "beta": {1900, 2100}} {
		if n := r.Report.Tenants[name].Reasons["served"]; n < want.least || n > want.most {
			t.Errorf("%s: %d served, want %d to %d", name, n, want.least, want.most)
		}
	}
	if n := r.Report.Tenants["flood"].Reasons["rate_limited"]; n < 4500 {
		t.Errorf("flood: %d rate_limited of 8,000", n)
	}
	if n := r.Report.Classes["checkout"].Reasons["rate_limited"] - r.Report.Tenants["flood"].Reasons["rate_limited"]; n != 0 {
		t.Errorf("%d of others were", n)
	}
}

// Callers that say that they try again give way to those who try for the first
// time: of the same load, more first tries are served.
func TestRetriesGiveWayInARun(t *testing.T) {
	served := func(last bool) (first, offered int64) {
		c := checkout()
		c.Pool.RetriesLast = last
		names := workload.NewNames()
		play(t, sim.Scenario{
			Seed: 1, For: 20 * time.Second, Names: names,
			Resources: []sim.Resource{{Boundary: strict(c), Upstream: sim.Upstream{Slots: 40, Service: service("100ms")}}},
			Streams:   []sim.Stream{{Source: poisson(names, "checkout", 600, 0), Callers: sim.Callers{Retries: 3, Backoff: sim.Backoff{Base: 100 * time.Millisecond, Max: 2 * time.Second}}}},
			Record: func(r *sim.Record) {
				offered++
				if r.Attempt == 0 && r.Reason.String() == "served" {
					first++
				}
			},
		})
		return first, offered
	}
	last, lastAll := served(true)
	alike, alikeAll := served(false)
	if last <= alike*11/10 || lastAll >= alikeAll {
		t.Errorf("%d first tries served of %d attempts where retries are last, %d of %d where they are alike", last, lastAll, alike, alikeAll)
	}
}
