package plan

import (
	"fmt"
	"math"
)

// planTenants shares a class's throughput by weight and adds to the tenants of
// the whole plan.
func (m *maker) planTenants(c *class) map[string]TenantPlan {
	out := map[string]TenantPlan{}
	var total int64
	for _, t := range c.Tenants.Named {
		// Saturates: a sum of absurd weights must not turn negative.
		total += min(c.weight(t), math.MaxInt64-total)
	}
	for _, t := range c.Tenants.Named {
		if _, twice := out[t.Name]; twice {
			m.warn(c, c.where(), "tenant "+t.Name+" is given twice and only the first is shown; remove one")
			continue
		}
		out[t.Name] = m.planTenant(c, t, total)
		m.plan.Tenants[t.Name] = merge(m.plan.Tenants, t.Name, out[t.Name])
	}
	return out
}

func (m *maker) planTenant(c *class, t Tenant, total int64) TenantPlan {
	var fs figures
	where := c.where() + ", tenant " + t.Name
	w := c.weight(t)
	share := Share(c.throughput, w, total)
	if c.promisesNoShare() {
		share = math.NaN()
	}
	counted := "all named tenants backlogged and no other; every request costs the same"
	if c.Tenants.Policy == "drr" {
		counted = "all named tenants backlogged and no other; shares are of cost, requests of mean cost"
	}
	out := TenantPlan{SharePerS: fs.add("share_per_s", share, "/s",
		fmt.Sprintf("throughput x weight / sum of weights = %s x %s / %s", rate(c.throughput), count(w), count(total)), counted)}

	wait := math.NaN()
	formula := "queue / share"
	if c.Tenants.Queue > 0 {
		wait = ratio(float64(c.Tenants.Queue), share)
		formula = fmt.Sprintf("queue / share = %s / %s", count(c.Tenants.Queue), rate(share))
	}
	out.WaitS = fs.add("wait_s", wait, "s", formula,
		"its queue full; an estimate, not a bound, with long calls that are not interrupted")
	out.Figures = fs

	switch {
	case c.promisesNoShare():
		m.warn(c, where, "policy "+c.Tenants.Policy+" promises no share: who sends more gets more; use rr, wrr or drr")
	case w == 0:
		m.warn(c, where, "weight 0 is never served while others wait; give it at least 1")
	case c.Deadline > 0 && wait+c.holding.Seconds() > c.Deadline.Seconds():
		fits := math.Floor((c.Deadline - min(c.holding, c.Deadline)).Seconds() * share)
		m.warn(c, where, fmt.Sprintf("a full queue of %s takes %s at %s, more than the deadline of %s leaves: its end expires unserved; "+
			"set tenant.queue to at most %s, or raise its weight", count(c.Tenants.Queue), seconds(wait), rate(share), dur(c.Deadline), num(max(1, fits))))
	}
	return out
}

func (c *class) promisesNoShare() bool {
	return c.Tenants.Policy == "fifo" || c.Tenants.Policy == "priority"
}

// weight is a tenant's weight as its policy sees it.
func (c *class) weight(t Tenant) int64 {
	if c.Tenants.Policy == "rr" {
		return 1
	}
	return max(0, t.Weight)
}

// merge adds a class's tenant to those of the classes before: shares add up, the
// longest wait stands.
func merge(all map[string]TenantPlan, name string, t TenantPlan) TenantPlan {
	old, ok := all[name]
	if !ok {
		return t
	}
	var fs figures
	const several = "the tenant is backlogged in every class at once; per class: classes.NAME.tenants"
	sum := float64(old.SharePerS) + float64(t.SharePerS)
	t.SharePerS = fs.add("share_per_s", sum, "/s", "sum over its classes", several)
	t.WaitS = fs.add("wait_s", longest(float64(old.WaitS), float64(t.WaitS)), "s", "longest of its classes", several)
	t.Figures = fs
	return t
}

// longest passes over the unknown, where max would spread it.
func longest(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	if math.IsNaN(b) {
		return a
	}
	return max(a, b)
}
