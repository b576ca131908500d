package assemble

import (
	"cmp"
	"math"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Quotas returns the quotas of a configuration that passed validation, in its order.
func Quotas(cfg *config.Config) []quota.Quota {
	var all []quota.Quota
	for _, q := range cfg.WithDefaults().Quotas {
		refund := q.Refund.On()
		all = append(all, quota.Quota{
			Name:   q.Name,
			All:    limits(q.Limits(), refund),
			Tenant: limits(q.PerTenant, refund), Tenants: limitsOf(q.Tenants, refund),
			Model: limits(q.PerModel, refund), Models: limitsOf(q.Models, refund),
		})
	}
	return all
}

func limitsOf(whose map[string]config.QuotaLimits, refund bool) map[string][]quota.Ref {
	if len(whose) == 0 {
		return nil
	}
	all := make(map[string][]quota.Ref, len(whose))
	for name, l := range whose {
		all[name] = limits(l, refund)
	}
	return all
}

// limits are named unit/period, and those of calls at once concurrent.
func limits(l config.QuotaLimits, refund bool) (all []quota.Ref) {
	written := l.Allowances()
	for u := range quota.Unit(quota.Units) {
		a, first := written[u.String()], true
		for i, figure := range a.Figures() {
			if figure == 0 {
				continue
			}
			p := config.Periods[i]
			limit := amounts(u, a, p, figure, first)
			limit.Unit, limit.Refund = u, refund
			all = append(all, quota.Ref{Name: u.String() + "/" + p.Name, Limit: limit})
			first = false
		}
	}
	if l.Concurrent != 0 {
		all = append(all, quota.Ref{Name: quota.Concurrent.String(), Limit: quota.Limit{Unit: quota.Concurrent, Most: int64(l.Concurrent)}})
	}
	return all
}

// amounts is what one figure of an allowance comes to; the first has its burst.
func amounts(u quota.Unit, a config.Allowance, p config.Period, figure float64, first bool) (l quota.Limit) {
	scale, places := 1.0, p.Places
	if u == quota.Money { // millionths are whole
		scale, places, l.Most = quota.Currency, 0, whole(figure, quota.Currency)
	} else {
		l.Most = int64(max(math.Ceil(figure), 1))
	}
	if a.Calendar(p) {
		l.Window = quota.Window{Period: quota.Month, Zone: zone(a.Zone)}
		if p.Name == "day" {
			l.Window.Period = quota.Day
		}
		return l
	}
	if first && a.Burst != 0 {
		l.Most = whole(a.Burst, scale)
	}
	parts := math.Pow10(places)
	l.Refill, l.Every = fraction(whole(figure, scale*parts), int64(parts), p.Time)
	return l
}

func whole(x, scale float64) int64 { return int64(math.Round(x * scale)) }

// fraction is n parts of which of are one, in the smallest numbers that say it.
func fraction(n, of int64, period time.Duration) (refill int64, every time.Duration) {
	a, b := n, of
	for b != 0 {
		a, b = b, a%b
	}
	return n / a, time.Duration(of/a) * period
}

// zone is a time zone that config has found; UTC is none.
func zone(name string) *time.Location {
	at, err := time.LoadLocation(name)
	if err != nil || at == time.UTC {
		return nil
	}
	return at
}

// planQuota is a quota's limits of everything as arithmetic knows them: of several
// of a unit the one that allows least in the long run.
func planQuota(q config.Quota) plan.Quota {
	p := plan.Quota{Name: q.Name, Concurrent: int64(q.Concurrent)}
	p.RequestsPerS, _ = perSecond(q.Requests)
	p.TokensPerS, p.TokensBurst = perSecond(q.Tokens)
	return p
}

func perSecond(a config.Allowance) (rate, burst float64) {
	const month = 30 * 24 * time.Hour
	for i, figure := range a.Figures() {
		if figure == 0 {
			continue
		}
		p := config.Periods[i]
		if p.Name == "month" {
			p.Time = month
		}
		if burst == 0 {
			burst = cmp.Or(a.Burst, max(math.Ceil(figure), 1))
		}
		if r := figure / p.Time.Seconds(); rate == 0 || r < rate {
			rate = r
		}
	}
	return rate, burst
}
