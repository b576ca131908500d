package limits

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// play plays an arm.
func (s *Setting) play(seed uint64, keep *lab.Arm) (*course, error) {
	scenario, err := s.scenario(seed)
	if err != nil {
		return nil, err
	}
	c := newCourse(s)
	scenario.Record = func(r *sim.Record) {
		keep.Record(r)
		c.take(r)
	}
	if _, err := sim.Run(*scenario, nil); err != nil {
		return nil, fmt.Errorf("%w: %w", lab.ErrSums, err)
	}
	return c, nil
}

func (s *Setting) scenario(seed uint64) (*sim.Scenario, error) {
	names := workload.NewNames()
	upstream := sim.Upstream{Slots: s.Phases[0].Capacity, NoticesCancel: true}
	var conditions []string
	for i, p := range s.Phases {
		if i > 0 && p.Capacity != s.Phases[i-1].Capacity {
			upstream.Capacity = append(upstream.Capacity, sim.Capacity{At: time.Duration(p.AtS) * time.Second, Slots: p.Capacity})
		}
		switch d := s.end(i) - p.AtS; p.Slower {
		case 1:
		case 0:
			conditions = append(conditions, fmt.Sprintf("outage@%ds+%ds", p.AtS, d))
		default:
			conditions = append(conditions, fmt.Sprintf("x%v@%ds+%ds", p.Slower, p.AtS, d))
		}
	}
	var err error
	if len(conditions) > 0 {
		upstream.Conditions, err = workload.ParseConditions(join(conditions))
	} else {
		upstream.Conditions, err = workload.NewConditions()
	}
	if err != nil {
		return nil, err
	}
	class := boundary.Class{
		Name: "calls", Pool: pool.Config{Slots: ceiling, Bound: room},
		Deadline: deadline,
	}
	machine := boundary.Config{
		Name: "resource", Classes: []boundary.Class{class}, Seed: seed, Strict: true,
		Limit: limit.Config{Law: s.law, Ceiling: ceiling, Seed: seed},
	}
	var tap func(boundary.Event)
	if s.peer != nil {
		machine.Limit.Maker = &limit.Maker{New: func(c limit.Config) (l limit.Limiter) {
			l, tap = s.peer.New(c)
			return l
		}}
	}
	calls := []sim.Call{{Timeout: time.Duration(s.TimeoutMS) * time.Millisecond}}
	routes := []route{{"calls", service, serviceMS, 1}}
	if s.Mixed {
		class.Name = "slow"
		machine.Classes = append(machine.Classes, class)
		calls = append(calls, calls[0])
		routes = []route{{"calls", service, serviceMS, 0.5}, {"slow", slow, 5 * serviceMS, 0.5}}
	}
	var streams []sim.Stream
	for _, r := range routes {
		source, err := s.source(r, seed, names)
		if err != nil {
			return nil, err
		}
		streams = append(streams, sim.Stream{Source: source, Class: r.class})
	}
	return &sim.Scenario{
		Seed: seed, For: time.Duration(s.ForS) * time.Second, Names: names,
		Resources: []sim.Resource{{Boundary: machine, Upstream: upstream, Calls: calls, Tap: func(e boundary.Event) {
			if tap != nil {
				tap(e)
			}
		}}},
		Streams: streams,
	}, nil
}

// route is a class with the part of capacity that its work would fill.
type route struct {
	class, service string
	meanMS         float64
	part           float64
}

func (s *Setting) source(r route, seed uint64, names *workload.Names) (workload.Source, error) {
	var steps []workload.Step
	for i, p := range s.Phases {
		steps = append(steps, workload.Step{
			PerSecond: p.Load * r.part * capacity * 1000 / r.meanMS,
			For:       time.Duration(s.end(i)-p.AtS) * time.Second,
		})
	}
	rate, err := workload.Steps(steps...)
	if err != nil {
		return nil, err
	}
	times, err := workload.ParseService(r.service)
	if err != nil {
		return nil, err
	}
	return workload.Spec{Seed: seed, Stream: r.class, Rate: rate, Service: times}.Source(names)
}

// end is when a phase ends.
func (s *Setting) end(i int) int {
	if i+1 < len(s.Phases) {
		return s.Phases[i+1].AtS
	}
	return s.ForS
}

func join(conditions []string) string {
	all := conditions[0]
	for _, c := range conditions[1:] {
		all += "," + c
	}
	return all
}
