package plan

import (
	"math"
	"time"
)

// Make does the arithmetic for a config. It never fails: what cannot be computed
// is unknown (null in JSON) and warned of. Cost: linear in the input.
func Make(in Input) Plan {
	m := maker{
		plan: Plan{
			Classes:   map[string]ClassPlan{},
			Tenants:   map[string]TenantPlan{},
			Upstreams: map[string]UpstreamPlan{},
			Quotas:    map[string]QuotaPlan{},
			Warnings:  []string{},
		},
	}
	m.resolve(in)
	for i := range m.quotas {
		m.measureQuota(&m.quotas[i])
	}
	for i := range m.classes {
		m.limitByQuota(&m.classes[i])
	}
	for i := range m.upstreams {
		m.planUpstream(&m.upstreams[i])
	}
	for i := range m.classes {
		m.planClass(&m.classes[i])
	}
	for i := range m.quotas {
		m.planQuota(&m.quotas[i])
	}
	m.planWhole()
	return m.plan
}

// maker holds what is being worked out, in the order of the input.
type maker struct {
	upstreams []upstream
	classes   []class
	quotas    []quota
	outage    time.Duration
	falsely   float64 // share of false timeouts
	plan      Plan
}

// upstream, class and quota are an input entry with what was worked out of it.

type upstream struct {
	Upstream
	mean    time.Duration // of its service; 0: not known
	hold    time.Duration // what a call holds a slot for, on average over its classes; 0: not known
	classes []*class      // those whose primary it is
	state   string
}

type class struct {
	Class
	up         *upstream // nil: unknown or none
	quotas     []*quota
	slots      int64         // counted on: never more than the upstream has
	holding    time.Duration // mean time a request holds its slot; 0: not known
	holdingOf  string        // where the holding time comes from
	throughput float64
	limitedBy  string
	warnings   []string
	overloaded bool
}

type quota struct {
	Quota
	classes  []*class
	meanCall time.Duration
	deadline time.Duration
	slots    int64 // 0: no limit known
	feasible float64
	binding  string
	checks   []constraint
	over     bool
}

// warn records a warning; whose is nil for one that belongs to no class.
func (m *maker) warn(whose *class, where, text string) {
	text = where + ": " + text
	m.plan.Warnings = append(m.plan.Warnings, text)
	if whose != nil {
		whose.warnings = append(whose.warnings, text)
	}
}

// clean hands a rate back, or 0 and a warning for what is no rate.
func (m *maker) clean(where, what string, x float64) float64 {
	if x == 0 || (x > 0 && !math.IsInf(x, 1)) {
		return x
	}
	m.warn(nil, where, what+" is not a number of zero or more and is ignored; give a finite rate")
	return 0
}

// resolve copies the input, drops what is named twice and ties classes to their
// upstreams and quotas. The slices are not grown afterwards: pointers into them hold.
func (m *maker) resolve(in Input) {
	for _, u := range in.Upstreams {
		if m.upstream(u.Name) != nil {
			m.warn(nil, "upstream "+u.Name, "is given twice and only the first is counted; rename one")
			continue
		}
		if u.Kind == "" {
			u.Kind = "upstream"
		}
		u.Slots = max(0, u.Slots)
		m.upstreams = append(m.upstreams, upstream{Upstream: u, mean: MeanService(u.Service)})
	}
	for _, q := range in.Quotas {
		if m.quota(q.Name) != nil {
			m.warn(nil, "quota "+q.Name, "is given twice and only the first is counted; rename one")
			continue
		}
		where := "quota " + q.Name
		q.RequestsPerS = m.clean(where, "requests per second", q.RequestsPerS)
		q.TokensPerS = m.clean(where, "tokens per second", q.TokensPerS)
		q.TokensBurst = m.clean(where, "the token burst", q.TokensBurst)
		q.TokensPerCall = m.clean(where, "tokens per call", q.TokensPerCall)
		m.quotas = append(m.quotas, quota{Quota: q})
	}
	seen := map[string]bool{}
	for _, c := range in.Classes {
		if seen[c.Name] {
			m.warn(nil, "class "+c.Name, "is given twice and only the first is counted; rename one")
			continue
		}
		seen[c.Name] = true
		c.Expect.Rate = m.clean("class "+c.Name, "the expected rate", c.Expect.Rate)
		c.Call.Retries = max(0, c.Call.Retries)
		m.classes = append(m.classes, class{Class: c})
	}
	for i := range m.classes {
		m.tie(&m.classes[i])
	}
	for i := range m.upstreams {
		m.upstreams[i].hold = m.upstreams[i].meanHold(false)
	}
	if m.outage = in.Outage; m.outage <= 0 {
		m.outage = DefaultOutage
	}
	if m.falsely = in.FalseTimeouts; !(m.falsely > 0 && m.falsely < 1) {
		m.falsely = DefaultFalseTimeouts
	}
}

func (m *maker) tie(c *class) {
	if c.up = m.upstream(c.Upstream); c.up != nil {
		c.up.classes = append(c.up.classes, c)
	}
	for _, name := range c.Quotas {
		if q := m.quota(name); q != nil {
			q.classes = append(q.classes, c)
			c.quotas = append(c.quotas, q)
		} else {
			m.warn(c, c.where(), "quota "+name+" is not defined and is not counted; define it under quotas")
		}
	}

	c.slots = c.countedSlots()
	switch {
	case c.up != nil && c.up.mean > 0:
		c.holding, c.holdingOf = c.up.holdOf(c, false), "mean service time of "+c.up.Kind+" "+c.Upstream
		if c.holding < c.up.mean {
			c.holdingOf += ", cut off where it stops"
		}
	case c.Budget.Service > 0:
		c.holding, c.holdingOf = c.Budget.Service, "budget.service, taken as the mean service time"
	default:
		m.warn(c, c.where(), "no service time is known, so neither throughput nor what follows from it can be; "+
			"give upstreams."+c.Upstream+".service or budget.service (live it is measured)")
	}
	c.throughput, c.limitedBy = Throughput(c.slots, c.holding), "slots"
}

// countedSlots is what the class can count on: guaranteed slots, an adaptive
// limit at what the upstream has (that is where it will settle), else at its start.
func (c *class) countedSlots() int64 {
	n := c.Slots.Max
	known := c.up != nil && c.up.Slots > 0
	if c.Slots.adaptive() && !known {
		n = max(c.Slots.Start, c.Slots.Min)
	}
	if known {
		n = min(n, c.up.Slots)
	}
	return max(0, n)
}

// limitByQuota lowers a class's throughput to its tightest quota.
func (m *maker) limitByQuota(c *class) {
	for _, q := range c.quotas {
		if q.binding == "none" || math.IsNaN(q.feasible) {
			continue
		}
		if math.IsNaN(c.throughput) || q.feasible < c.throughput {
			c.throughput, c.limitedBy = q.feasible, "quota "+q.Name
		}
	}
}

func (c *class) where() string { return "class " + c.Name }

func (m *maker) upstream(name string) *upstream {
	for i := range m.upstreams {
		if m.upstreams[i].Name == name {
			return &m.upstreams[i]
		}
	}
	return nil
}

func (m *maker) quota(name string) *quota {
	for i := range m.quotas {
		if m.quotas[i].Name == name {
			return &m.quotas[i]
		}
	}
	return nil
}
