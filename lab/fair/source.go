package fair

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/workload"
)

// source returns what the arm offers.
func (s Setting) source(seed uint64, names *workload.Names, all *jobs, keep *lab.Arm) (workload.Source, error) {
	switch {
	case s.Stream != nil:
		return s.Stream.source(seed, names, all)
	case s.Crowd != nil:
		return s.Crowd.source(names, all), nil
	}
	reg := register{seen: map[int64]bool{}}
	var arrivals []workload.Arrival
	key := int64(0)
	offer := func(o Offer, firstKey int64) {
		tenant := all.tenant(o.Tenant)
		for i := range int64(o.Count) {
			if reg.knows(firstKey + i) {
				all.recognised[tenant]++
				keep.Recognised(firstKey+i, o.Tenant)
				continue
			}
			arrivals = append(arrivals, workload.Arrival{Tenant: names.Tenants.ID(o.Tenant), Cost: o.Cost})
		}
	}
	for i, o := range s.Offers {
		first := key
		offer(o, first)
		key += int64(o.Count)
		for range s.copies(i) {
			if s.SameKey {
				offer(o, first)
				continue
			}
			offer(o, key)
			key += int64(o.Count)
		}
	}
	return workload.Slice(arrivals), nil
}

// copies is how often an offer is made again.
func (s Setting) copies(offer int) int {
	if offer == 0 {
		return s.RetryCopies
	}
	return 0
}

// register recognises keys it has seen. It stands in for the ledger.
type register struct{ seen map[int64]bool }

func (r *register) knows(key int64) bool {
	if r.seen[key] {
		return true
	}
	r.seen[key] = true
	return false
}

// source offers Each times one job of every tenant at t = 0.
func (c *Crowd) source(names *workload.Names, all *jobs) workload.Source {
	ids := make([]workload.Name, c.Tenants)
	for i := range ids {
		name := fmt.Sprintf("t%06d", i)
		all.tenant(name)
		ids[i] = names.Tenants.ID(name)
	}
	left, next := c.Each, 0
	return workload.SourceFunc(func(a *workload.Arrival) bool {
		if next == len(ids) {
			next, left = 0, left-1
		}
		if left == 0 || len(ids) == 0 {
			return false
		}
		*a = workload.Arrival{N: int64(c.Each-left)*int64(len(ids)) + int64(next), Tenant: ids[next], Cost: 1}
		next++
		return true
	})
}

func (st *Stream) source(seed uint64, names *workload.Names, all *jobs) (workload.Source, error) {
	mix, err := workload.ParseMix(st.Shares)
	if err != nil {
		return nil, err
	}
	rate, err := workload.ParseRate(fmt.Sprint(st.PerS))
	if err != nil {
		return nil, err
	}
	costs := map[workload.Name]int64{}
	for _, share := range mix.Shares() {
		all.tenant(share.Name)
	}
	for _, o := range st.Costs {
		costs[names.Tenants.ID(o.Tenant)] = o.Cost
	}
	drawn, err := workload.Spec{
		Seed: seed, Stream: "lab/fair", Rate: rate, Tenants: mix, For: time.Duration(st.ForS) * time.Second,
	}.Source(names)
	if err != nil {
		return nil, err
	}
	return workload.SourceFunc(func(a *workload.Arrival) bool {
		if !drawn.Next(a) {
			return false
		}
		a.Cost = max(1, costs[a.Tenant])
		return true
	}), nil
}
