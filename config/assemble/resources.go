package assemble

import (
	"slices"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Resource is one upstream with the classes that use it.
type Resource struct {
	Upstream config.Upstream
	// Classes are the file's classes on this upstream, in its order, and after them
	// the pools in which rungs of other classes ask it: the index here is the index in
	// the machine.
	Classes []config.Class
	// Own is how many of them are the file's.
	Own     int
	Machine boundary.Config
	// Calls say how each of the classes calls the upstream, by the same index. One
	// that says nothing but a timeout makes a single attempt.
	Calls []call.Policy
}

// Resources returns the resources of a configuration that passed validation,
// in the order of its upstreams; those that no class and no rung uses are left out.
func Resources(cfg *config.Config) []Resource {
	cfg = cfg.WithDefaults()
	var all []Resource
	quotas := Quotas(cfg)
	for _, u := range cfg.Upstreams {
		r := Resource{
			Upstream: u,
			Machine:  boundary.Config{Name: u.Name, Seed: uint64(cfg.Seed)},
		}
		for _, c := range cfg.Classes {
			if c.Upstream == u.Name {
				r.Classes = append(r.Classes, c)
			}
		}
		r.Own = len(r.Classes)
		r.Classes = append(r.Classes, cfg.Asked(u)...)
		for _, c := range r.Classes {
			r.Machine.Classes = append(r.Machine.Classes, underQuota(class(c), c, quotas))
			r.Calls = append(r.Calls, Call(cfg, c, u.Name))
		}
		r.adapt()
		r.edge(cfg)
		if len(r.Classes) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// adapt sets how the limit of the upstream is found: by measurement as soon as one of
// its classes has a range. What the others have is theirs whatever it is.
func (r *Resource) adapt() {
	if !slices.ContainsFunc(r.Classes, func(c config.Class) bool { return c.Slots.Adaptive() }) {
		return
	}
	r.Machine.Limit = limit.Config{Law: limit.Knee, Seed: r.Machine.Seed ^ chance.Key(r.Upstream.Name)}
	for i, c := range r.Classes {
		r.Machine.Limit.Start += max(c.Slots.Fixed, c.Slots.Start)
		r.Machine.Classes[i].Floor = max(c.Slots.Fixed, c.Slots.Min)
	}
}

func class(c config.Class) boundary.Class {
	return boundary.Class{
		Name: c.Name,
		Pool: pool.Config{
			Slots:       c.Slots.Most(),
			Borrow:      c.Borrow,
			Latency:     c.Budget.Latency.D(),
			Service:     c.Budget.Service.D(),
			MemoryLimit: int64(c.Memory.Limit),
			PerRequest:  int64(c.Memory.PerRequest),
			Order:       orders[c.Order],
			MaxAge:      c.MaxAge.D(),
			WhenFull:    whenFull[c.WhenFull.Policy],
			BlockFor:    c.WhenFull.Block.D(),
			Levels:      len(c.Importance.Levels),
			Tenants:     tenants(c.Tenant),
		},
		Deadline:      c.Deadline.D(),
		DeadlineMax:   c.MaxDeadline.D(),
		Reserve:       Reserve(c),
		AdmitHopeless: !c.Feasible.On(),
		Streams: boundary.Streams{
			Most: c.Streams.MostOf(c.Slots), PerTenant: c.Streams.PerTenant, After: c.Streams.After.D(),
		},
		HoldAtMost: c.Abandoned.HoldAtMost.D(),
		Mode:       mode(c.Mode),
		Shed:       Shed(c),
		Call:       boundary.Call{Timeout: c.Call.Timeout.D(), Cancel: c.Abandoned.Cancel.On()},
	}
}

func tenants(t config.Tenant) pool.TenantConfig {
	if t.Key.IsZero() {
		return pool.TenantConfig{}
	}
	policy, _ := fair.ParsePolicy(string(t.Policy))
	ranks := make(map[string]int, len(t.Order))
	for i, name := range t.Order {
		ranks[name] = i
	}
	return pool.TenantConfig{
		Policy:  policy,
		Weights: t.Weights,
		Ranks:   ranks,
		Queue:   t.Queue,
		Timed:   policy == fair.DRR && t.Cost.IsZero(),
	}
}

var orders = map[config.Order]pool.Order{
	config.OrderAdaptive: pool.Adaptive,
	config.OrderFIFO:     pool.FIFO,
	config.OrderLIFO:     pool.LIFO,
}

var whenFull = map[config.FullPolicy]pool.WhenFull{
	config.FullReject:     pool.Reject,
	config.FullDrop:       pool.Drop,
	config.FullDropOldest: pool.DropOldest,
	config.FullDisplace:   pool.Displace,
	config.FullBlock:      pool.Block,
}

// underQuota gives a class its quotas. Where all are one tenant there is one line
// whatever the policy, and a tenant's limits are everybody's.
func underQuota(c boundary.Class, cfg config.Class, quotas []quota.Quota) boundary.Class {
	for _, name := range cfg.Quota {
		for _, q := range quotas {
			if q.Name == name {
				c.Quotas = append(c.Quotas, q)
			}
		}
	}
	if len(c.Quotas) > 0 && cfg.Tenant.Key.IsZero() {
		c.Pool.Tenants.Policy = fair.RR
	}
	return c
}
