package verify

import (
	"math"
	"slices"
)

// account is a class, a tenant or all of the traffic report.
type account struct {
	attempts                []*attempt
	latency, refused, waits []int64
	slots                   map[string]int64 // of the classes it used
	cheaper                 func(*attempt) bool
}

// atAdmission are the reasons of refusals before any wait.
var atAdmission = []string{"shed_for_load", "queue_full", "queue_bytes", "infeasible", "draining", "operator", "ledger_unavailable",
	"rate_limited", "tenant_full", "quota_requests", "quota_tokens", "quota_concurrency", "dropped"}

// traffic fills in the traffic report's fields.
func (f figures) traffic(s poolSettings, attempts []*attempt) {
	slots := map[string]int64{}
	for _, c := range s.Classes {
		slots[c.Name] = int64(c.Slots)
	}
	all := &account{slots: slots, cheaper: s.cheaper}
	classes, tenants := map[string]*account{}, map[string]*account{}
	for _, c := range s.Classes {
		classes[c.Name] = &account{slots: map[string]int64{c.Name: slots[c.Name]}, cheaper: s.cheaper}
	}
	add := func(to map[string]*account, name string, a *attempt) {
		if to[name] == nil {
			to[name] = &account{slots: map[string]int64{}, cheaper: s.cheaper}
		}
		to[name].add(a)
		to[name].slots[a.class] = slots[a.class]
	}
	for _, a := range attempts {
		all.add(a)
		add(classes, a.class, a)
		add(tenants, a.tenant, a)
	}
	f.account("", all, s.Seconds)
	for name, a := range classes { // order does not matter: each has its own paths
		f.account("classes."+name+".", a, s.Seconds)
	}
	for name, a := range tenants {
		f.account("tenants."+name+".", a, s.Seconds)
	}
}

func (c *account) add(a *attempt) {
	c.attempts = append(c.attempts, a)
	switch {
	case a.reason == "served":
		c.latency = append(c.latency, a.latency)
	case c.cheaper(a):
	case slices.Contains(atAdmission, a.reason):
		c.refused = append(c.refused, a.latency)
	}
	if a.started {
		c.waits = append(c.waits, a.wait)
	}
}

func (f figures) account(path string, c *account, seconds float64) {
	end := int64(seconds * 1e9)
	var goodput, calls, held, slotTime float64
	for _, a := range c.attempts {
		f[path+"reasons."+a.reason]++
		if a.reason == "served" {
			f[path+"answered.primary"]++
			if a.inTime && a.ended <= end { // what is served after the load is no part of its rate
				goodput++
			}
		} else if c.cheaper(a) {
			f[path+"answered.static"]++
		} else {
			f[path+"refused."+a.reason]++
		}
		if a.started {
			calls++
		}
		if a.begun >= 0 {
			from := a.begun
			if a.started { // it holds its slot from then on, also in the pool's own line
				from = min(from, a.row.started)
			}
			held += float64(max(0, min(a.done, end)-max(from, 0)))
		}
	}
	for _, n := range c.slots {
		slotTime += float64(n) * float64(end)
	}
	f[path+"offered"], f[path+"waiting"], f[path+"running"] = float64(len(c.attempts)), 0, 0
	f[path+"goodput_per_s"] = goodput / seconds
	f[path+"calls_per_request"] = calls / float64(len(c.attempts))
	f[path+"utilisation"] = held / slotTime
	if slotTime == 0 {
		f[path+"utilisation"] = math.NaN()
	}
	for _, list := range [][]int64{c.latency, c.refused, c.waits} {
		slices.Sort(list)
	}
	f[path+"p50_ms"], f[path+"p90_ms"] = rank(c.latency, 0.5), rank(c.latency, 0.9)
	f[path+"p99_ms"], f[path+"p999_ms"] = rank(c.latency, 0.99), rank(c.latency, 0.999)
	f[path+"max_ms"] = rank(c.latency, 1)
	f[path+"refused_p50_ms"], f[path+"refused_p99_ms"] = rank(c.refused, 0.5), rank(c.refused, 0.99)
	f[path+"queue_wait_p50_ms"], f[path+"queue_wait_p99_ms"] = rank(c.waits, 0.5), rank(c.waits, 0.99)
}

// rank is the smallest value that at least a share p of all does not exceed,
// in ms.
func rank(sorted []int64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return float64(sorted[min(max(int(math.Ceil(p*float64(n))), 1), n)-1]) / 1e6
}
