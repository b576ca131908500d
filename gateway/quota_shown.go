package gateway

import "github.com/spillway-dev/spillway/observe"

// quotaMetrics is what a scrape sees of quotas.
func (g *Gateway) quotaMetrics() (all []observe.Quota, told observe.Reservations) {
	for _, c := range g.current.Load().classes {
		s := c.gate.Quota(c.index)
		if s == nil {
			continue
		}
		q := observe.Quota{Upstream: c.upstream.name, Class: c.name, Reserving: s.Reserving, DryTenants: s.DryTenants}
		for _, b := range s.Budgets {
			q.Budgets = append(q.Budgets, observe.Budget{Name: b.Name, Unit: b.Unit, Free: b.Free, Most: b.Most, Dry: b.Dry})
		}
		all = append(all, q)
	}
	n := &g.reserver.Counts
	return all, observe.Reservations{
		Reserved: n.Reserved.Load(), Refused: n.Refused.Load(), Unavailable: n.Unavailable.Load(), Started: n.Started.Load(),
		Settled: n.Settled.Load(), Lost: n.Lost.Load(), Released: n.Released.Load(), Retried: n.Retried.Load(),
	}
}
