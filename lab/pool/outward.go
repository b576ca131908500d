package pool

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// The boundary pushed outward: limits of each client at the edge, admission by
// measured latency in front of a pool whose size nobody knows, and a balancer
// that is told which copies of the pool shed.

// Edge is what each client may ask.
type Edge struct {
	PerS  float64 `json:"per_s"`
	Burst int64   `json:"burst"`
}

// Balancer spreads requests over the classes, which stand for copies of a pool,
// one after the other.
type Balancer struct {
	// Share, ForMs and OutMs are the copies' readiness policy; Share 0: they are
	// always ready.
	Share float64 `json:"share"`
	ForMs float64 `json:"for_ms"`
	OutMs float64 `json:"out_ms"`
}

// clients is how many there are, one of which is greedy.
const clients = 8

func outwardArms(o Options) []Setting {
	return append(append(edgeArms(o), latencyArms(o)...), balancerArms(o)...)
}

func edgeArms(o Options) []Setting {
	share := o.capacity() / clients
	arm := func(name, does string, edge *Edge) Setting {
		s := base(o, name, does)
		s.Edge, s.Streams = edge, nil
		modest := 0.8 * share
		for i := range clients - 1 {
			s.Streams = append(s.Streams, Stream{Class: "tasks", Tenant: fmt.Sprintf("client-%d", i+1), PerS: modest})
		}
		s.Streams = append(s.Streams, Stream{Class: "tasks", Tenant: "greedy", PerS: max(o.Rate-modest*(clients-1), modest)})
		return s
	}
	return []Setting{
		arm("outward-edge-none", "seven clients who ask for four fifths of an eighth of the capacity each, and one who asks for all the rest", nil),
		arm("outward-edge", "the same; at the edge each client may ask for an eighth of the capacity", &Edge{PerS: share, Burst: 20}),
	}
}

func latencyArms(o Options) []Setting {
	arm := func(name, does string, feasible bool) Setting {
		s := base(o, name, does)
		c := &s.Classes[0]
		c.Slots, c.Bound, c.ServiceMs, c.Feasible = 4*o.Slots, o.derived(), 0, feasible
		return s
	}
	return []Setting{
		arm("outward-latency-none", "a front door that believes the pool to be four times as large; what it lets in waits in the pool's own line", false),
		arm("outward-latency", "the same; what cannot be answered in time by what calls were measured to take is refused at the door", true),
	}
}

func balancerArms(o Options) []Setting {
	arm := func(name, does string, perS float64, slots []int, share float64) Setting {
		s := base(o, name, does)
		c := s.Classes[0]
		s.Classes = nil
		for i, n := range slots {
			c.Name, c.Slots = fmt.Sprintf("copy-%d", i+1), n
			s.Classes = append(s.Classes, c)
		}
		s.Streams = []Stream{{Class: "copy-1", PerS: perS}}
		s.Balancer = &Balancer{Share: share, ForMs: 1000, OutMs: 5000}
		return s
	}
	quarter := o.Slots / 4
	even := []int{quarter, quarter, quarter, o.Slots - 3*quarter}
	small := max(1, o.Slots/10)
	third := (o.Slots - small) / 3
	uneven := []int{small, third, third, o.Slots - small - 2*third}
	most := 0.9 * o.capacity()
	return []Setting{
		arm("outward-balancer-deaf", "four copies behind a balancer that takes them in turn; one has a tenth of the workers; nine tenths of capacity are offered", most, uneven, 0),
		arm("outward-balancer", "the same; a copy that sheds three tenths is not ready, and gets nothing while it is not", most, uneven, 0.3),
		arm("outward-all-deaf", "four equal copies, all of them offered too much", o.Rate, even, 0),
		arm("outward-all", "the same; copies that shed three tenths are not ready", o.Rate, even, 0.3),
	}
}

// balancer is a source whose requests go to one copy after the other, of those
// that are ready; to all of them if none is.
type balancer struct {
	workload.Source
	copies []workload.Name
	ready  []shed.Ready
	is     []bool
	turn   int
}

// balance puts a balancer before the scenario's first stream.
func (b *Balancer) balance(sc *sim.Scenario, classes []Class) {
	l := &balancer{Source: sc.Streams[0].Source}
	out := ms(b.OutMs)
	for i, c := range classes {
		l.copies = append(l.copies, sc.Names.Classes.ID(c.Name))
		l.is = append(l.is, true)
		l.ready = append(l.ready, shed.Ready{Config: shed.Config{
			Share: b.Share, For: ms(b.ForMs), Out: out, Phase: time.Duration(i) * 2 * out / time.Duration(len(classes)),
		}})
	}
	sc.Streams[0].Source = l
	sc.Sample, sc.SampleEvery = l.probe, 500*time.Millisecond
}

// Next implements workload.Source.
func (b *balancer) Next(a *workload.Arrival) bool {
	if !b.Source.Next(a) {
		return false
	}
	b.turn = (b.turn + 1) % len(b.copies)
	for range b.copies { // after which it is the next again
		if b.is[b.turn] {
			break
		}
		b.turn = (b.turn + 1) % len(b.copies)
	}
	a.Class = b.copies[b.turn]
	return true
}

// Err returns why the source ended early.
func (b *balancer) Err() error { return workload.Err(b.Source) }

// probe asks every copy whether it is ready.
func (b *balancer) probe(at unit.Instant, machines []*boundary.Machine) {
	for i := range b.ready {
		var dropped int64
		tally := machines[0].Class(i).Tally
		for why, n := range tally.Answered {
			if shed.ForLoad(reason.Reason(why)) {
				dropped += n
			}
		}
		b.is[i] = b.ready[i].Look(at, tally.Offered, dropped)
	}
}

// rule is the edge's limit as the machine takes it.
func (e *Edge) rule() rate.Rule {
	return rate.Rule{Interval: rate.Interval(e.PerS), Burst: e.Burst}
}

// outwardPredictions are about a pool under lasting overload of steady work.
func outwardPredictions(o Options) []lab.Prediction {
	capacity := o.capacity()
	share := capacity / clients
	return []lab.Prediction{
		lab.Expect("outward-edge", "tenants.client-1.goodput_per_s", lab.AtLeast, 0.9*0.8*share, "with a limit at the edge who asks for little gets all of it"),
		lab.Expect("outward-edge-none", "tenants.client-1.goodput_per_s", lab.AtMost, 0.7*0.8*share, "without one it pays for the greedy"),
		lab.Expect("outward-edge", "tenants.greedy.goodput_per_s", lab.AtMost, 1.1*share, "and the greedy gets its share and no more"),
		lab.Expect("outward-latency-none", "in_budget_per_s", lab.AtMost, 0.2*capacity, "a door that believes in too large a pool fills the pool's own line, and nearly everybody is late"),
		lab.Against("outward-latency", "in_budget_per_s", lab.AtLeast, 2, "outward-latency-none", "measured latency closes the door, and more than twice as many are in time"),
		lab.Against("outward-balancer", "goodput_per_s", lab.AtLeast, 1.03, "outward-balancer-deaf", "what the small copy would shed, the others serve"),
		lab.Expect("outward-all-deaf", "goodput_per_s", lab.AtLeast, 0.95*capacity, "copies that all shed serve all they can"),
		lab.Against("outward-all", "goodput_per_s", lab.AtMost, 0.9, "outward-all-deaf", "where all shed, readiness takes capacity away and gives nothing"),
		lab.Against("outward-all", "goodput_per_s", lab.AtLeast, 0.4, "outward-all-deaf", "but never more than half of it, since half of the copies stay"),
	}
}
