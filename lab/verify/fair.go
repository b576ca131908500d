package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
)

type fairSettings struct {
	Policy      string         `json:"policy"`
	Weights     map[string]int `json:"weights"`
	Slots       int            `json:"slots"`
	DeadlineS   float64        `json:"deadline_s"`
	HorizonS    int            `json:"horizon_s"`
	RetryCopies int            `json:"retry_copies"`
	Reweigh     *struct {
		AtS     float64        `json:"at_s"`
		Weights map[string]int `json:"weights"`
	} `json:"reweigh"`
}

func weightOf(weights map[string]int, tenant string) float64 {
	if w, listed := weights[tenant]; listed {
		return float64(w)
	}
	return 1
}

// party is one tenant's jobs; the lists of instants are sorted.
type party struct {
	name                                           string
	offered, recognised, rejected, served, expired int64
	servedCost                                     int64
	in, out, gone                                  []int64 // entered the queue, started, expired
	started                                        []start
}

type start struct{ at, cost int64 }

func (p *party) waiting(before int64) int64 { // arrivals up to it, starts before it, expiries up to it
	return upTo(p.in, before) - upTo(p.out, before-1) - upTo(p.gone, before)
}

func upTo(sorted []int64, t int64) int64 {
	return int64(sort.Search(len(sorted), func(i int) bool { return sorted[i] > t }))
}

func fairFigures(text json.RawMessage, rows []row) (figures, error) {
	var s fairSettings
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	parties := map[string]*party{}
	of := func(name string) *party {
		if parties[name] == nil {
			parties[name] = &party{name: name}
		}
		return parties[name]
	}
	var waited int64
	var all party
	for _, r := range rows {
		if r.kind == "k" {
			of(r.tenant).recognised++
		}
		if r.kind != "r" {
			continue
		}
		p := of(r.tenant)
		p.offered++
		switch r.reason {
		case "served":
			p.served++
			p.servedCost += r.cost
			p.in, p.out = append(p.in, r.arrived), append(p.out, r.started)
			p.started = append(p.started, start{r.started, r.cost})
			waited += r.started - r.arrived
		case "expired":
			p.expired++
			p.in, p.gone = append(p.in, r.arrived), append(p.gone, r.ended)
			waited += r.ended - r.arrived
		default:
			p.rejected++
		}
	}
	var list []*party
	for _, p := range parties { // order does not matter: sums and maxima
		list = append(list, p)
		all.in, all.out, all.gone = append(all.in, p.in...), append(all.out, p.out...), append(all.gone, p.gone...)
		for _, instants := range [][]int64{p.in, p.out, p.gone} {
			slices.Sort(instants)
		}
		slices.SortFunc(p.started, func(a, b start) int { return int(min(1, max(-1, a.at-b.at))) })
	}
	for _, instants := range [][]int64{all.in, all.out, all.gone} {
		slices.Sort(instants)
	}
	f := figures{
		"slots": float64(s.Slots), "deadline_s": s.DeadlineS, "retry_copies": float64(s.RetryCopies),
		"tenants": float64(len(list)), "queue_wait_total_ms": float64(waited) / 1e6,
	}
	for name, w := range s.Weights {
		f["weights."+name] = float64(w)
	}
	f.counts(list, s)
	f.queue(&all, s.HorizonS)
	f["worst_lag"], f["worst_lag_by_cost"] = lags(list, s)
	return f, nil
}

// counts fills in what is counted by tenant, or for all where they are many.
func (f figures) counts(list []*party, s fairSettings) {
	least, most := int64(math.MaxInt64), int64(0)
	var sum, squares, costSum, costSquares float64
	for _, p := range list {
		name := p.name
		if len(list) > 16 {
			name = "all"
		}
		for what, n := range map[string]int64{"offered": p.offered, "recognised": p.recognised, "rejected": p.rejected,
			"completed": p.served, "expired": p.expired, "completed_cost": p.servedCost} {
			f[what+"."+name] += float64(n)
		}
		share, costShare := float64(p.served)/weightOf(s.Weights, p.name), float64(p.servedCost)/weightOf(s.Weights, p.name)
		if name == p.name {
			f["normalised_share.by_count."+name], f["normalised_share.by_cost."+name] = share, costShare
		}
		sum, squares = sum+share, squares+share*share
		costSum, costSquares = costSum+costShare, costSquares+costShare*costShare
		least, most = min(least, p.served), max(most, p.served)
	}
	if len(list) == 0 {
		least = 0
	}
	n := float64(len(list))
	f["completed_least"], f["completed_most"] = float64(least), float64(most)
	f["jain"], f["jain_by_cost"] = sum*sum/(n*squares), costSum*costSum/(n*costSquares)
}

// queue fills in peak and history, by counting who is inside at an instant.
func (f figures) queue(all *party, horizon int) {
	peak := int64(0)
	for _, t := range all.in {
		peak = max(peak, all.waiting(t))
	}
	f["peak_queue"] = float64(peak)
	for second := range horizon {
		end := int64(second+1) * 1e9
		f[fmt.Sprintf("queue_history.%d", second)] = float64(upTo(all.in, end-1) - upTo(all.out, end-1) - upTo(all.gone, end))
	}
}

// lags returns the most that anybody who went on waiting was behind the fluid
// ideal, in requests and in cost. Tenants are looked at one by one: the ideal of
// each instant needs only the sum of weights that waited then.
func lags(list []*party, s fairSettings) (worst, worstCost float64) {
	type instant struct{ count, cost, weight float64 }
	given := map[int64]*instant{}
	var order []int64
	for _, p := range list {
		for _, st := range p.started {
			if given[st.at] == nil {
				given[st.at] = &instant{}
				order = append(order, st.at)
			}
			given[st.at].count++
			given[st.at].cost += float64(st.cost)
		}
	}
	slices.Sort(order)
	weight := func(p *party, t int64) float64 {
		if s.Reweigh != nil && t >= int64(s.Reweigh.AtS*1e9) {
			return max(1, float64(s.Reweigh.Weights[p.name]))
		}
		return weightOf(s.Weights, p.name)
	}
	for _, t := range order {
		for _, p := range list {
			if p.waiting(t) > 0 {
				given[t].weight += weight(p, t)
			}
		}
	}
	for _, p := range list {
		lag, lagCost, next, previous := 0.0, 0.0, 0, int64(-1)
		for _, t := range order {
			if p.emptied(previous, t) {
				lag, lagCost = 0, 0
			}
			previous = t
			before := p.waiting(t)
			if before == 0 {
				continue
			}
			share := weight(p, t) / given[t].weight
			got, gotCost := 0.0, 0.0
			for ; next < len(p.started) && p.started[next].at == t; next++ {
				got++
				gotCost += float64(p.started[next].cost)
			}
			lag += share*given[t].count - got
			lagCost += share*given[t].cost - gotCost
			if before == int64(got) {
				lag, lagCost = 0, 0
				continue
			}
			worst, worstCost = max(worst, lag), max(worstCost, lagCost)
		}
	}
	return worst, worstCost
}

// emptied reports whether expiry left nobody of the tenant waiting at some
// instant after one and up to another.
func (p *party) emptied(after, to int64) bool {
	for i := upTo(p.gone, after); i < upTo(p.gone, to); i++ {
		t := p.gone[i]
		if upTo(p.in, t-1)-upTo(p.out, t-1)-upTo(p.gone, t) == 0 {
			return true
		}
	}
	return false
}
