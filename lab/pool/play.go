package pool

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// played is an arm's result with what only its pictures need.
type played struct {
	*Result
	traffic *report.Report
}

// play plays one arm, keeping its records.
func (s Setting) play(seed uint64, meta report.Meta, keep *lab.Arm) (*played, error) {
	if len(s.Stages) > 0 {
		return s.playStages(seed, meta, keep)
	}
	scenario, err := s.scenario(seed, meta)
	if err != nil {
		return nil, err
	}
	f := newFollower(s)
	scenario.Record = func(r *sim.Record) {
		f.record(r)
		keep.Record(r)
	}
	scenario.Work = func(w *sim.Work) {
		f.work(w)
		keep.Work(w)
	}
	out, err := sim.Run(scenario, nil)
	if out != nil && err != nil {
		err = fmt.Errorf("%w: %w", lab.ErrSums, err)
	}
	if err != nil {
		return nil, err
	}
	r := f.result(out)
	fresh, err := boundary.New(scenario.Resources[0].Boundary)
	if err != nil {
		return nil, err
	}
	for i := range fresh.Classes() {
		if c := fresh.Class(i); !s.Naive {
			r.Bounds[c.Name] = int64(c.Bound)
		}
	}
	return &played{Result: r, traffic: out.Report}, nil
}

func (s Setting) scenario(seed uint64, meta report.Meta) (sim.Scenario, error) {
	names := workload.NewNames()
	sc := sim.Scenario{
		Seed: seed, For: time.Duration(s.Seconds * float64(time.Second)), Names: names, Unprotected: s.Naive, Meta: meta,
		Resources: []sim.Resource{{
			Boundary: boundary.Config{Name: "pool", Seed: seed, Strict: true},
			Upstream: sim.Upstream{Slots: s.Slots, Service: s.law},
		}},
	}
	res := &sc.Resources[0]
	for _, c := range s.Classes {
		class, err := c.config(s.BudgetMs)
		if err != nil {
			return sc, err
		}
		res.Boundary.Classes = append(res.Boundary.Classes, class)
		res.Ladders = append(res.Ladders, c.ladder())
	}
	if s.Outage {
		conditions, err := workload.NewConditions(workload.Window{For: 10 * sc.For})
		if err != nil {
			return sc, err
		}
		res.Upstream.Conditions, res.Upstream.FailIn = conditions, 5*time.Millisecond
	}
	for _, st := range s.Streams {
		source, err := st.source(seed, sc.For, names)
		if err != nil {
			return sc, err
		}
		callers := st.callers()
		if len(s.Layers) > 0 {
			callers.Retries = tries(s.Layers) - 1
		}
		sc.Streams = append(sc.Streams, sim.Stream{Source: source, Class: st.Class, Callers: callers})
	}
	if s.Edge != nil {
		res.Boundary.Clients = s.Edge.rule()
	}
	if s.ByHand != nil {
		sc.Changes = append(sc.Changes, s.ByHand.change(s.Classes[0].Name))
	}
	if s.Balancer != nil {
		s.Balancer.balance(&sc, s.Classes)
	}
	return sc, nil
}

func (c Class) config(budgetMs float64) (boundary.Class, error) {
	order, whenFull := pool.Adaptive, pool.Reject
	switch c.Order {
	case "adaptive":
	case "fifo":
		order = pool.FIFO
	case "lifo":
		order = pool.LIFO
	default:
		return boundary.Class{}, fmt.Errorf("order %q: it is adaptive, fifo or lifo", c.Order)
	}
	switch c.WhenFull {
	case "reject":
	case "drop":
		whenFull = pool.Drop
	case "block":
		whenFull = pool.Block
	default:
		return boundary.Class{}, fmt.Errorf("when full %q: it is reject, drop or block", c.WhenFull)
	}
	return boundary.Class{
		Name: c.Name, Deadline: ms(c.DeadlineMs), AdmitHopeless: !c.Feasible,
		Pool: pool.Config{
			Slots: c.Slots, Borrow: c.Borrow, Latency: ms(budgetMs), Service: ms(c.ServiceMs), Bound: c.Bound,
			Order: order, WhenFull: whenFull, BlockFor: ms(c.BlockMs),
		},
	}, nil
}

func (st Stream) source(seed uint64, length time.Duration, names *workload.Names) (workload.Source, error) {
	rate, err := workload.ParseRate(fmt.Sprintf("%f", st.PerS))
	if err != nil {
		return nil, err
	}
	spec := workload.Spec{Seed: seed, Stream: "lab/pool/" + st.Tenant, Rate: rate, For: length}
	if st.Tenant != "" {
		spec.Tenants = workload.Only(st.Tenant)
	}
	return spec.Source(names)
}

func (st Stream) callers() sim.Callers {
	if st.Library {
		return sim.Callers{Deadline: ms(st.WithinMs), Library: &call.Policy{
			Retries: st.Retries, Backoff: call.Backoff{Base: ms(st.BackoffMs), Max: 16 * ms(st.BackoffMs)},
			Breaker: call.Breaker{Failures: st.BreakerPercent},
		}}
	}
	c := sim.Callers{Retries: st.Retries, HonourRetryAfter: st.Obedient, Within: ms(st.WithinMs)}
	if st.BackoffMs > 0 {
		c.Backoff = sim.Backoff{Base: ms(st.BackoffMs), Exponential: true, Max: 16 * ms(st.BackoffMs), FullJitter: st.Jitter}
	}
	if st.Budget > 0 {
		c.Budget = sim.Budget{Share: st.Budget, Burst: 10}
	}
	return c
}

// tries counts the calls that nested layers make when every one fails, by
// making them.
func tries(layers []int) int {
	if len(layers) == 0 {
		return 1
	}
	calls := 0
	for range layers[0] {
		calls += tries(layers[1:])
	}
	return calls
}
