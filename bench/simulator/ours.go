package main

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// scenario is n requests at so much load a slot, with all that a class can have:
// deadline, feasibility, derived bound, bytes, adaptive order, importance, wrr
// among 100 tenants of three weights with a bound each; the report counts every
// tenant and keeps quantiles of latency and wait.
func scenario(n int, load float64) (sim.Scenario, error) {
	const tenants, slots, service = 100, 64, 100 * time.Millisecond
	names := workload.NewNames()
	weights := map[string]int{}
	var shares []workload.Share
	for i := range tenants {
		name := fmt.Sprintf("tenant-%02d", i)
		shares = append(shares, workload.Share{Name: name, Share: 1})
		weights[name] = 1 + i%3
	}
	mix, err := workload.NewMix(shares...)
	if err != nil {
		return sim.Scenario{}, err
	}
	importance, err := workload.ParseMix("user=1,prefetch=1")
	if err != nil {
		return sim.Scenario{}, err
	}
	perSecond := load * slots / service.Seconds()
	rate, err := workload.ConstantRate(perSecond)
	if err != nil {
		return sim.Scenario{}, err
	}
	law, err := workload.ParseService("lognormal:mean=100ms,p99=250ms")
	if err != nil {
		return sim.Scenario{}, err
	}
	source, err := workload.Spec{
		Seed: 1, Stream: "bench", Rate: rate, Tenants: mix, Importance: importance, Bytes: 4096,
	}.Source(names)
	if err != nil {
		return sim.Scenario{}, err
	}
	return sim.Scenario{
		Seed: 1, For: time.Duration(float64(n) / perSecond * 1e9), Names: names,
		Resources: []sim.Resource{{
			Boundary: boundary.Config{Name: "app", Seed: 1, Classes: []boundary.Class{{
				Name: "checkout",
				Pool: pool.Config{
					Slots: slots, Latency: 300 * time.Millisecond, Service: service,
					MemoryLimit: 64 << 20, PerRequest: 64 << 10, Levels: 2, WhenFull: pool.Displace,
					Tenants: pool.TenantConfig{Policy: fair.WRR, Weights: weights, Queue: 12},
				},
				Deadline: 300 * time.Millisecond, DeadlineMax: time.Second,
			}}},
			Upstream: sim.Upstream{Slots: slots, Service: law},
		}},
		Streams: []sim.Stream{{Source: source}},
	}, nil
}

// runOurs plays the scenario and returns its report, whose sums have closed.
func runOurs(n int, load float64) (*report.Report, error) {
	s, err := scenario(n, load)
	if err != nil {
		return nil, err
	}
	result, err := sim.Run(s, nil)
	if err != nil {
		return nil, err
	}
	return result.Report, result.Report.Check()
}
