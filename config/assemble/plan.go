package assemble

import (
	"slices"
	"strings"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/plan"
)

// Plan returns what the arithmetic of policy/plan needs to know of a
// configuration that passed validation.
func Plan(cfg *config.Config) plan.Input {
	cfg = cfg.WithDefaults()
	var in plan.Input
	for _, u := range cfg.Upstreams {
		in.Upstreams = append(in.Upstreams, plan.Upstream{
			Name: u.Name, Slots: int64(u.Slots), Service: serviceParts(u.Service),
			StopsAtDeadline: u.StopsAtDeadline.On(), StopsAfter: u.StopsAfter.D(), HonoursKeys: u.HonoursKeys.On(),
		})
	}
	for _, q := range cfg.Quotas {
		in.Quotas = append(in.Quotas, planQuota(q))
	}
	for _, c := range cfg.Classes {
		in.Classes = append(in.Classes, planClass(c))
		in.Classes[len(in.Classes)-1].Rungs = planRungs(cfg, c)
	}
	return in
}

func planClass(c config.Class) plan.Class {
	p := plan.Class{
		Name:        c.Name,
		Upstream:    c.Upstream,
		Slots:       plan.Fixed(int64(c.Slots.Fixed)),
		Borrow:      int64(c.Borrow),
		Budget:      plan.Budget{Latency: c.Budget.Latency.D(), Service: c.Budget.Service.D()},
		Memory:      plan.Memory{Limit: int64(c.Memory.Limit), PerRequest: int64(c.Memory.PerRequest)},
		WhenFull:    string(c.WhenFull.Policy),
		Block:       c.WhenFull.Block.D(),
		Deadline:    c.Deadline.D(),
		MaxDeadline: c.MaxDeadline.D(),
		Call:        planCall(c.Call),
		Cancel:      c.Abandoned.Cancel.On(),
		HoldAtMost:  c.Abandoned.HoldAtMost.D(),
		Order:       string(c.Order),
		Quotas:      c.Quota,
		Posts:       slices.Contains(c.Match.Method, "POST") || slices.Contains(c.Match.Method, "PATCH"),
		Expect:      plan.Expect{Rate: c.Expect.Rate, CallersAttempts: c.Expect.CallersAttempts},
	}
	for _, t := range c.Expect.CallersTimeouts {
		p.Expect.CallersTimeouts = append(p.Expect.CallersTimeouts, t.D())
	}
	if c.Slots.Adaptive() {
		p.Slots = plan.Adaptive(int64(c.Slots.Min), int64(c.Slots.Start), int64(c.Slots.Max))
	}
	if !c.Tenant.Key.IsZero() {
		p.Tenants = plan.Tenants{Policy: string(c.Tenant.Policy), Queue: int64(c.Tenant.Queue)}
		for name, w := range c.Tenant.Weights {
			p.Tenants.Named = append(p.Tenants.Named, plan.Tenant{Name: name, Weight: int64(w)})
		}
		if len(p.Tenants.Named) > 0 { // whoever is not named shares as one more
			p.Tenants.Named = append(p.Tenants.Named, plan.Tenant{Name: "others", Weight: 1})
		}
		slices.SortFunc(p.Tenants.Named, func(a, b plan.Tenant) int { return strings.Compare(a.Name, b.Name) })
	}
	return p
}

func planCall(c config.Call) plan.Call {
	b := c.Breaker
	return plan.Call{
		Timeout:        c.Timeout.D(),
		Reserve:        c.Reserve.D(),
		PassDeadline:   c.PassDeadline.On(),
		Retries:        c.Retries,
		RetryBudget:    c.RetryBudget.Percent.Fraction(),
		RetryBudgetOff: c.RetryBudget.Off,
		Backoff: plan.Backoff{
			Base: c.Backoff.Base.D(), Max: c.Backoff.Max.D(), Decorrelated: c.Backoff.Jitter == config.JitterDecorrelated,
		},
		Hedge: plan.Hedge{
			After: c.Hedge.After.Fixed.D(), Percentile: c.Hedge.After.Percentile,
			Budget: c.Hedge.Budget.Percent.Fraction(), BudgetOff: c.Hedge.Budget.Off,
		},
		Breaker: plan.Breaker{
			Window: b.Window.D(), SlowAfter: b.SlowAfter.D(), MinCalls: b.MinCalls, ProbeTimeout: b.ProbeTimeout.D(),
			Shares: (b.Failures > 0 || b.Slow > 0) && b.Consecutive == 0,
		},
	}
}

func serviceParts(s config.Service) []plan.ServicePart {
	if s.IsZero() {
		return nil
	}
	if len(s.Mix) == 0 {
		return plan.Constant(s.Fixed.D())
	}
	parts := make([]plan.ServicePart, 0, len(s.Mix))
	for _, m := range s.Mix {
		parts = append(parts, plan.ServicePart{Weight: m.Share, Time: m.Time.D()})
	}
	return parts
}

func planRungs(cfg *config.Config, c config.Class) (all []plan.Rung) {
	order, err := Ladder(cfg, c)
	if err != nil {
		return nil // check has said so
	}
	for i, r := range c.Ladder {
		p := plan.Rung{Name: order.Name(i), Upstream: r.Upstream, Wait: r.Wait.D()}
		if u := upstream(cfg, r.Upstream); r.Upstream != "" {
			p.Service = r.Takes(u).D()
			for _, a := range cfg.Asked(u) {
				if a.Name == config.AskedName(c.Name, u.Name) {
					p.Slots = int64(a.Slots.Fixed)
				}
			}
		}
		all = append(all, p)
	}
	return all
}
