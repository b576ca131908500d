package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// Report plays the run and returns its report as --json writes it.
func Report(seed uint64, length time.Duration) ([]byte, error) {
	s, err := scenario(seed, length)
	if err != nil {
		return nil, err
	}
	result, err := sim.Run(s, nil)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := report.WriteJSON(&b, result); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Fingerprint is a hash of the report of a minute.
func Fingerprint(seed uint64) (string, error) {
	document, err := Report(seed, time.Minute)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:8]), nil
}

// parts reads what is written in the grammars of package workload and keeps the
// faults.
type parts struct{ errs []error }

func read[T any](p *parts, parse func(string) (T, error), text string) T {
	v, err := parse(text)
	p.errs = append(p.errs, err)
	return v
}

func scenario(seed uint64, length time.Duration) (sim.Scenario, error) {
	var p parts
	names := workload.NewNames()
	source := func(spec workload.Spec) workload.Source {
		s, err := spec.Source(names)
		p.errs = append(p.errs, err)
		return s
	}
	ms := time.Millisecond
	order, err := ladder.New(ladder.Rung{Name: ladder.Cache}, ladder.Rung{Name: "list", Needs: 10 * ms})
	p.errs = append(p.errs, err)
	s := sim.Scenario{
		Seed: seed, For: length, WarmUp: 5 * time.Second, Names: names, Overhead: 2 * ms,
		Resources: []sim.Resource{{
			Boundary: boundary.Config{Name: "app", Strict: true, Seed: seed, Classes: []boundary.Class{{
				Name: "checkout", Deadline: 300 * ms,
				Pool: pool.Config{
					Slots: 40, Latency: 300 * ms, Service: 100 * ms, MemoryLimit: 1 << 20, PerRequest: 4 << 10, WhenFull: pool.Displace, Levels: 2,
					Tenants: pool.TenantConfig{Policy: fair.WRR, Weights: map[string]int{"acme": 2}, Queue: 30},
				},
			}, {
				Name: "analytics", Deadline: time.Second,
				Pool: pool.Config{Slots: 8, Borrow: 4, Latency: 500 * ms, WhenFull: pool.Drop, Tenants: pool.TenantConfig{Policy: fair.DRR}},
			}}},
			Upstream: sim.Upstream{
				Slots: 46, Service: read(&p, workload.ParseService, "mix:0.9*lognormal:mean=100ms,p99=300ms,0.1*exp:50ms"),
				Conditions: read(&p, workload.ParseConditions, "x3@20s+5s,outage@40s+2s"), KeepsDeadline: true,
			},
			Calls:   []sim.Call{{Timeout: 250 * ms, PassDeadline: true}},
			Ladders: []sim.Ladder{{Order: order, Rungs: []sim.Rung{{Earlier: &sim.Earlier{For: time.Second}}, {Class: "checkout/list"}}}},
		}, {
			Boundary: boundary.Config{Name: "list", Strict: true, Seed: seed, Classes: []boundary.Class{{
				Name: "checkout/list", Deadline: 300 * ms, Pool: pool.Config{Slots: 2, Latency: 20 * ms, Service: 10 * ms},
			}}},
			Upstream: sim.Upstream{Slots: 2, Service: read(&p, workload.ParseService, "exp:10ms")},
		}},
		Streams: []sim.Stream{{
			Class: "checkout",
			Source: source(workload.Spec{
				Seed: seed, Stream: "checkout", Rate: read(&p, workload.ParseRate, "300:20s,900:20s,300"), Bytes: 4 << 10, Keys: read(&p, workload.ParseKeys, "5000"),
				Tenants: read(&p, workload.ParseMix, "acme=8,beta=3,gamma"), Importance: read(&p, workload.ParseMix, "user=3,prefetch"),
			}),
			Callers: sim.Callers{
				Patience: 400 * ms, Retries: 2, Within: 3 * time.Second, HonourRetryAfter: true,
				Backoff: sim.Backoff{Base: 50 * ms, Exponential: true, FullJitter: true}, Budget: sim.Budget{Share: 0.2, Burst: 10},
			},
		}, {
			Class: "analytics",
			Source: source(workload.Spec{
				Seed: seed, Stream: "analytics", Rate: read(&p, workload.ParseRate, "200"), Cost: 3,
				Arrivals: read(&p, workload.ParseArrivals, "bursts:on=1s,off=4s"), Tenants: read(&p, workload.ParseMix, "nightly,adhoc"),
			}),
		}},
	}
	return s, errors.Join(p.errs...)
}
