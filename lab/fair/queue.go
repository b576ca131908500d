package fair

import (
	"cmp"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// step is a change in the queue at an instant. Those of one instant are taken
// in the machine's order: who expires, who arrives, who starts.
type step struct {
	at   unit.Instant
	kind int
	job  *job
}

const (
	expires = iota
	arrives
	starts
)

// followQueue fills in what the course of the queue says: its history and
// peak, and how far anybody who waited fell behind.
func (s Setting) followQueue(jobs *jobs, r *Result) {
	var steps []step
	for i := range jobs.list {
		j := &jobs.list[i]
		switch j.became {
		case rejected:
			continue
		case completed:
			steps = append(steps, step{j.started, starts, j})
		case expired:
			steps = append(steps, step{j.ended, expires, j})
		}
		steps = append(steps, step{j.arrived, arrives, j})
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind))
	})
	f := newFluid(s, jobs.names)
	sampled := func(at unit.Instant) { // all seconds that end before what happens at an instant
		for len(r.QueueHistory) < s.HorizonS && secondEnd(len(r.QueueHistory)) < at {
			r.QueueHistory = append(r.QueueHistory, f.queued)
		}
	}
	for i := 0; i < len(steps); {
		now := steps[i].at
		sampled(now)
		swept := false
		for ; i < len(steps) && steps[i].at == now; i++ {
			// The sweep of an instant belongs to the second that it ends.
			if !swept && steps[i].kind != expires {
				swept = true
				sampled(now + 1)
			}
			switch steps[i].kind {
			case expires:
				f.gone(steps[i].job.tenant)
			case arrives:
				f.arrived(steps[i].job.tenant)
				r.PeakQueue = max(r.PeakQueue, f.queued)
			case starts:
				f.started(steps[i].job.tenant, steps[i].job.cost)
			}
		}
		sampled(now + 1)
		f.endInstant(now)
	}
	sampled(unit.Never)
	r.WorstLag, r.WorstLagByCost = number(f.worst), number(f.worstCost)
}

func secondEnd(second int) unit.Instant { return unit.Instant(time.Duration(second+1) * time.Second) }

// fluid is the ideal: every instant's service shared by weight among all who
// waited when it was given, to any fraction.
type fluid struct {
	s                Setting
	names            []string
	weights          []float64
	waiting          []int64 // by tenant
	lag, lagCost     []float64
	got, gotCost     []int64 // at this instant
	count, cost      int64   // in all, at this instant
	queued           int64
	worst, worstCost float64
	reweighed        bool
}

func newFluid(s Setting, names []string) *fluid {
	n := len(names)
	f := &fluid{s: s, names: names, weights: make([]float64, n), waiting: make([]int64, n),
		lag: make([]float64, n), lagCost: make([]float64, n), got: make([]int64, n), gotCost: make([]int64, n)}
	for i, name := range names {
		f.weights[i] = float64(s.weight(name))
	}
	return f
}

func (f *fluid) arrived(tenant int) {
	f.waiting[tenant]++
	f.queued++
}

func (f *fluid) gone(tenant int) {
	f.waiting[tenant]--
	f.queued--
	if f.waiting[tenant] == 0 {
		f.lag[tenant], f.lagCost[tenant] = 0, 0
	}
}

func (f *fluid) started(tenant int, cost int64) {
	f.got[tenant]++
	f.gotCost[tenant] += cost
	f.count++
	f.cost += cost
	f.queued--
}

// endInstant settles what was started at the instant against the ideal. Lag is
// forgotten with the last waiter: who does not wait is owed nothing.
func (f *fluid) endInstant(now unit.Instant) {
	if c := f.s.Reweigh; c != nil && !f.reweighed && now >= unit.Instant(seconds(c.AtS)) {
		f.reweighed = true
		for i, name := range f.names {
			f.weights[i] = float64(max(1, c.Weights[name]))
		}
	}
	if f.count == 0 {
		return
	}
	sum := 0.0
	for i, n := range f.waiting {
		if n > 0 {
			sum += f.weights[i]
		}
	}
	for i, n := range f.waiting {
		if n == 0 {
			continue
		}
		share := f.weights[i] / sum
		f.lag[i] += float64(share*float64(f.count)) - float64(f.got[i])
		f.lagCost[i] += float64(share*float64(f.cost)) - float64(f.gotCost[i])
		f.waiting[i] -= f.got[i]
		f.got[i], f.gotCost[i] = 0, 0
		if f.waiting[i] == 0 {
			f.lag[i], f.lagCost[i] = 0, 0
			continue
		}
		f.worst, f.worstCost = max(f.worst, f.lag[i]), max(f.worstCost, f.lagCost[i])
	}
	f.count, f.cost = 0, 0
}
