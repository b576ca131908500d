package retries

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// open is more slots than there is ever work: nobody stands in front of the server.
const open = 1 << 20

// play plays one round.
func (s Setting) play(seed uint64, round int, keep *lab.Arm) (*timeline, error) {
	scenario, err := s.scenario(seed + uint64(round))
	if err != nil {
		return nil, err
	}
	t := newTimeline(s)
	scenario.Record = func(r *sim.Record) {
		r.Stream = round
		keep.Record(r)
		t.take(r)
	}
	if _, err := sim.Run(*scenario, nil); err != nil {
		return nil, fmt.Errorf("%w: %w", lab.ErrSums, err)
	}
	return t, nil
}

func (s Setting) scenario(seed uint64) (*sim.Scenario, error) {
	names := workload.NewNames()
	rate, err := workload.ConstantRate(s.PerS)
	if err != nil {
		return nil, err
	}
	source, err := workload.Spec{Seed: seed, Stream: "clients", Rate: rate}.Source(names)
	if err != nil {
		return nil, err
	}
	times, err := workload.ParseService(service)
	if err != nil {
		return nil, err
	}
	conditions, err := workload.NewConditions()
	if s.OutForS > 0 {
		conditions, err = workload.ParseConditions(fmt.Sprintf("outage@%ds+%ds", s.OutageS, s.OutForS))
	}
	if err != nil {
		return nil, err
	}
	timeout := time.Duration(s.TimeoutS) * time.Second
	class := boundary.Class{Name: "database", Pool: pool.Config{Slots: servers}, Deadline: timeout}
	if !s.Front {
		class.Pool.Slots, class.AdmitHopeless = open, true
	}
	return &sim.Scenario{
		Seed: seed, For: time.Duration(s.ForS) * time.Second, Names: names,
		Resources: []sim.Resource{{
			Boundary: boundary.Config{Name: "database", Classes: []boundary.Class{class}, Seed: seed, Strict: true},
			Upstream: sim.Upstream{Slots: servers, Service: times, Conditions: conditions, KeepsDeadline: s.Obeys},
			Calls:    []sim.Call{{PassDeadline: true}},
		}},
		Streams: []sim.Stream{{Source: source, Callers: s.callers(timeout)}},
	}, nil
}

func (s Setting) callers(timeout time.Duration) sim.Callers {
	if s.Library {
		return sim.Callers{Library: &call.Policy{Timeout: timeout, Retries: s.Retries}, PassDeadline: true}
	}
	c := sim.Callers{Patience: timeout, Retries: s.Retries}
	if s.Budget {
		c.Budget = sim.Budget{Share: 0.1, Burst: 10}
	}
	return c
}
