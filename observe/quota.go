package observe

import (
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
)

// Quota is what is known at a scrape of the quotas of a class.
type Quota struct {
	Upstream, Class string
	Budgets         []Budget // those that all of the class go by
	Reserving       int      // requests whose reservation is asked for
	DryTenants      int      // tenants that wait for a budget of their own
}

// Budget is one of them, as its gateway reckons it: never less than there is.
type Budget struct {
	Name       string // quota/limit
	Unit       quota.Unit
	Free, Most int64
	Dry        time.Duration // for how long still whoever is next waits for it; 0: nobody does
}

// Reservations is what a ledger was asked and told, since the start.
type Reservations struct {
	Reserved, Refused, Unavailable, Started, Settled, Lost, Released, Retried int64
}

var (
	perBudget = []string{"upstream", "class", "budget", "unit"}

	quotaFree      = Definition{"spillway_quota_free", "gauge", perBudget, "What could be taken of a budget that all of the class go by, as this gateway reckons it: what other gateways have taken it learns when it is refused."}
	quotaMost      = Definition{"spillway_quota_limit", "gauge", perBudget, "The most that can be there at once: a burst, what a day or month has, slots."}
	quotaDry       = Definition{"spillway_quota_dry_seconds", "gauge", perBudget, "For how long still whoever is next waits for the budget to have room; 0 where nobody does."}
	quotaReserving = Definition{"spillway_quota_reserving", "gauge", []string{"upstream", "class"}, "Requests that hold a slot while their reservation is asked for."}
	quotaTenants   = Definition{"spillway_quota_dry_tenants", "gauge", []string{"upstream", "class"}, "Tenants that wait for a budget of their own."}
	quotaTold      = Definition{"spillway_quota_reservations_total", "counter", []string{"outcome"}, "What the ledger was asked and told: reserved, refused, unavailable (no call was made), started, settled, lost (nobody knows the end; the slot stays taken), released (never sent), retried (the ledger could not be told, and is told again)."}
)

func (s sink) quotas(all []Quota, told Reservations) {
	for i := range all {
		q := &all[i]
		for _, b := range q.Budgets {
			unit := b.Unit.String()
			s.add(&quotaFree, float64(b.Free), q.Upstream, q.Class, b.Name, unit)
			s.add(&quotaMost, float64(b.Most), q.Upstream, q.Class, b.Name, unit)
			s.add(&quotaDry, b.Dry.Seconds(), q.Upstream, q.Class, b.Name, unit)
		}
		s.add(&quotaReserving, float64(q.Reserving), q.Upstream, q.Class)
		s.add(&quotaTenants, float64(q.DryTenants), q.Upstream, q.Class)
	}
	if len(all) == 0 {
		return
	}
	for _, t := range []struct {
		outcome string
		n       int64
	}{
		{"reserved", told.Reserved}, {"refused", told.Refused}, {"unavailable", told.Unavailable}, {"started", told.Started},
		{"settled", told.Settled}, {"lost", told.Lost}, {"released", told.Released}, {"retried", told.Retried},
	} {
		s.add(&quotaTold, float64(t.n), t.outcome)
	}
}
