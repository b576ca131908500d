package fair

import (
	"fmt"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// fate is what became of a job.
type fate uint8

const (
	rejected fate = iota
	expired
	completed
)

// job is one request, and what became of it.
type job struct {
	tenant                  int // index into jobs.names
	cost                    int64
	arrived, started, ended unit.Instant
	became                  fate
}

// jobs are all of an arm.
type jobs struct {
	names      []string // of the tenants, in the order of their first offer
	index      map[string]int
	recognised []int64 // by tenant
	list       []job
}

func (j *jobs) tenant(name string) int {
	i, known := j.index[name]
	if !known {
		i = len(j.names)
		j.index[name] = i
		j.names = append(j.names, name)
		j.recognised = append(j.recognised, 0)
	}
	return i
}

func (j *jobs) add(r *sim.Record) {
	one := job{tenant: j.tenant(r.Tenant), cost: r.Cost, arrived: r.Arrived, started: r.Started, ended: r.Answered}
	switch r.Reason {
	case reason.Served:
		one.became = completed
	case reason.Expired:
		one.became = expired
	}
	j.list = append(j.list, one)
}

// play plays one arm, keeping its records.
func (s Setting) play(seed uint64, keep *lab.Arm) (*Result, error) {
	names := workload.NewNames()
	all := &jobs{index: map[string]int{}}
	source, err := s.source(seed, names, all, keep)
	if err != nil {
		return nil, err
	}
	class, err := s.class()
	if err != nil {
		return nil, err
	}
	law, err := workload.ParseService(s.Service)
	if err != nil {
		return nil, err
	}
	machine := func(c boundary.Class) boundary.Config {
		return boundary.Config{Name: "provider", Classes: []boundary.Class{c}, Seed: seed, Strict: true}
	}
	scenario := sim.Scenario{
		Seed: seed, Names: names,
		Resources: []sim.Resource{{
			Boundary: machine(class),
			Upstream: sim.Upstream{Slots: s.Slots, Service: law},
			Calls:    []sim.Call{{StartDeadline: true}},
		}},
		Streams: []sim.Stream{{Source: source}},
		Record: func(r *sim.Record) {
			all.add(r)
			keep.Record(r)
		},
		Work: keep.Work,
	}
	if class.Held {
		class.Held = false
		scenario.Changes = append(scenario.Changes, sim.Change{At: 0, Boundary: machine(class)})
	}
	if s.Reweigh != nil {
		class.Pool.Tenants.Weights = s.Reweigh.Weights
		scenario.Changes = append(scenario.Changes, sim.Change{At: seconds(s.Reweigh.AtS), Boundary: machine(class)})
	}
	out, err := sim.Run(scenario, nil)
	if out != nil && err != nil {
		err = fmt.Errorf("%w: %w", lab.ErrSums, err)
	}
	if err != nil {
		return nil, err
	}
	r := s.result(all)
	if err := r.check(&out.Resources[0].Classes[0]); err != nil {
		return nil, fmt.Errorf("%w: %w", lab.ErrSums, err)
	}
	return r, nil
}

// class is the boundary's configuration: the whole experiment in one value.
func (s Setting) class() (boundary.Class, error) {
	policy, known := fair.ParsePolicy(s.Policy)
	if !known {
		return boundary.Class{}, fmt.Errorf("policy %q: it is one of fifo, priority, rr, wrr, drr", s.Policy)
	}
	ranks := map[string]int{}
	for i, name := range s.Ranks {
		ranks[name] = i
	}
	return boundary.Class{
		Name: "jobs", AdmitHopeless: true, Deadline: seconds(s.DeadlineS), Held: s.Stream == nil,
		Pool: pool.Config{
			Slots: s.Slots, Bound: roomForAll, Order: pool.FIFO,
			Tenants: pool.TenantConfig{Policy: policy, Weights: s.Weights, Ranks: ranks, Queue: s.TenantQueue},
		},
	}, nil
}

// roomForAll leaves the tenant's bound as the only one.
const roomForAll = 1 << 20

// check compares the figures with the machine's own account.
func (r *Result) check(c *boundary.ClassState) error {
	offered, completed, expired := r.Offered.Sum(), r.Completed.Sum(), r.Expired.Sum()
	rejected := r.Rejected.Sum()
	if offered != rejected+completed+expired {
		return fmt.Errorf("%d were offered, but %d rejected + %d completed + %d expired is %d",
			offered, rejected, completed, expired, rejected+completed+expired)
	}
	if t := &c.Tally; t.Offered != offered || t.Answered[reason.Served] != completed || t.Answered[reason.Expired] != expired {
		return fmt.Errorf("the machine counts %d offered, %d served, %d expired; the records %d, %d, %d",
			t.Offered, t.Answered[reason.Served], t.Answered[reason.Expired], offered, completed, expired)
	}
	return nil
}
