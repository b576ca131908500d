package sim

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/workload"
)

// A provider that counts for itself has nothing to refuse where the class reserves
// first, and refuses most of what it is sent where nobody does. What is served comes to
// what the quota has, and no slot stays taken.
func TestAProviderHasNothingToRefuse(t *testing.T) {
	limits := []quota.Ref{
		{Name: "requests", Limit: quota.Limit{Unit: quota.Requests, Most: 4, Refill: 2, Every: time.Second}},
		{Name: "concurrent", Limit: quota.Limit{Unit: quota.Concurrent, Most: 2}},
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	rate, err := workload.ParseRate("8")
	must(err)
	tenants, err := workload.ParseMix("noisy=8,acme=1,beta=1")
	must(err)
	service, err := workload.ParseService("100ms")
	must(err)
	play := func(unprotected bool, latency time.Duration) ResourceResult {
		names := workload.NewNames()
		spec := workload.Spec{
			Seed: 3, Stream: "load", Rate: rate, For: time.Minute,
			Tenants: tenants, Service: service,
		}
		cfg := boundary.Config{Name: "model", Strict: true, Classes: []boundary.Class{{
			Name: "chat", Deadline: 5 * time.Second,
			Pool:   pool.Config{Slots: 8, Tenants: pool.TenantConfig{Policy: fair.RR}},
			Quotas: []quota.Quota{{Name: "provider", All: limits}},
		}}}
		source, err := spec.Source(names)
		must(err)
		result, err := Run(Scenario{
			Names: names, Unprotected: unprotected, Check: !unprotected,
			Reserving: func(uint64) time.Duration { return latency },
			Resources: []Resource{{Boundary: cfg, Upstream: Upstream{Quotas: []quota.Quota{{Name: "its own", All: limits}}}}},
			Streams:   []Stream{{Source: source}},
		}, nil)
		must(err)
		return result.Resources[0]
	}
	for _, latency := range []time.Duration{0, time.Millisecond, 40 * time.Millisecond} {
		r := play(false, latency)
		served := r.Classes[0].Tally.Answered[reason.Served]
		if r.OverQuota != 0 {
			t.Errorf("latency %v: the provider refused %d", latency, r.OverQuota)
		}
		if quotaHas := int64(4 + 2*65); served < quotaHas*9/10 || served > quotaHas {
			t.Errorf("latency %v: %d were served, the quota has %d", latency, served, quotaHas)
		}
		if r.Classes[0].Used != 0 || r.Classes[0].Waiting != 0 {
			t.Errorf("latency %v: %+v is left", latency, r.Classes[0])
		}
	}
	if r := play(true, 0); r.OverQuota < 200 {
		t.Errorf("unprotected, the provider refused %d only", r.OverQuota)
	}
}
