package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// allPolicies is a scenario of n requests with all of a class's policies on:
// deadline, feasibility, derived bound, adaptive order, wrr among 100 tenants,
// bytes; metrics and quantiles are always on. load is offered work per slot.
func allPolicies(n int, load float64) sim.Scenario {
	names := workload.NewNames()
	var tenants []workload.Share
	weights := map[string]int{}
	for i := range 100 {
		name := fmt.Sprintf("tenant-%02d", i)
		tenants = append(tenants, workload.Share{Name: name, Share: 1})
		weights[name] = 1 + i%3
	}
	cl := checkout()
	cl.Pool.Slots = 64
	cl.Pool.Tenants = pool.TenantConfig{Policy: fair.WRR, Weights: weights, Queue: 12}
	perSecond := load * 640
	source := must(workload.Spec{
		Seed: 1, Stream: "bench", Rate: must(workload.ConstantRate(perSecond)),
		Tenants: must(workload.NewMix(tenants...)), Bytes: 4096,
	}.Source(names))
	cfg := strict(cl)
	return sim.Scenario{
		Seed: 1, For: time.Duration(float64(n) / perSecond * 1e9), Names: names,
		Resources: []sim.Resource{{
			Boundary: cfg,
			Upstream: sim.Upstream{Slots: 64, Service: service("lognormal:mean=100ms,p99=250ms")},
		}},
		Streams: []sim.Stream{{Source: source}},
	}
}

// BenchmarkRequest is one request's whole way, by load: the target is 1.3
// million a second on one core.
func BenchmarkRequest(b *testing.B) {
	for _, load := range []float64{0.8, 0.95, 1.3, 2} {
		b.Run(fmt.Sprint(load), func(b *testing.B) {
			b.ReportAllocs()
			s := allPolicies(b.N, load)
			b.ResetTimer()
			if _, err := sim.Run(s, nil); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mreq/s")
		})
	}
}
