package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Quota is what may be spent per time: in all, of each tenant, of each model. All
// that apply to a call must have room.
type Quota struct {
	Name         string                 `yaml:"-"`
	Requests     Allowance              `yaml:"requests" doc:"Requests: calls, each attempt being one."`
	Tokens       Allowance              `yaml:"tokens" doc:"Tokens, input and output together."`
	InputTokens  Allowance              `yaml:"input_tokens" doc:"Tokens of input."`
	OutputTokens Allowance              `yaml:"output_tokens" doc:"Tokens of output."`
	Money        Allowance              `yaml:"money" doc:"Money, in whole units of the currency that prices are written in; it is counted in millionths."`
	Concurrent   int                    `yaml:"concurrent" min:"1" max:"1000000" doc:"Calls at once. A call of which nobody knows whether it has ended is one of them."`
	Refund       Switch                 `yaml:"refund" default:"off" doc:"on: what a call was counted with and has not used is given back when that is known. off: it stays spent, as with providers that count what a request might use when it comes. What it used beyond is charged either way."`
	PerTenant    QuotaLimits            `yaml:"per_tenant" doc:"The same for each tenant besides. Who names no tenant is one together."`
	Tenants      map[string]QuotaLimits `yaml:"tenants" doc:"Tenants that have other limits, instead of per_tenant as a whole."`
	PerModel     QuotaLimits            `yaml:"per_model" doc:"The same for each model besides."`
	Models       map[string]QuotaLimits `yaml:"models" doc:"Models that have other limits, instead of per_model as a whole."`
}

// QuotaLimits is what one tenant, or one model, may spend per time.
type QuotaLimits struct {
	Requests     Allowance `yaml:"requests" doc:"Requests."`
	Tokens       Allowance `yaml:"tokens" doc:"Tokens, input and output together."`
	InputTokens  Allowance `yaml:"input_tokens" doc:"Tokens of input."`
	OutputTokens Allowance `yaml:"output_tokens" doc:"Tokens of output."`
	Money        Allowance `yaml:"money" doc:"Money."`
	Concurrent   int       `yaml:"concurrent" min:"1" max:"1000000" doc:"Calls at once."`
}

// Allowance is how much may be spent, in one or several stretches of time; each is a
// limit of its own, and all of them apply.
type Allowance struct {
	Burst     float64 `yaml:"burst" min:"0.000001" max:"1e12" doc:"The most at once, of the shortest of the times below. Default: what that allows, and at least 1. A calendar's day or month has none: all of it can be spent at once."`
	PerSecond float64 `yaml:"per_second" min:"0.000001" max:"1e12" doc:"So many a second: a bucket that fills all the time. 0.5 is one in two seconds."`
	PerMinute float64 `yaml:"per_minute" min:"0.00001" max:"1e12" doc:"So many a minute, likewise."`
	PerHour   float64 `yaml:"per_hour" min:"0.001" max:"1e12" doc:"So many an hour, likewise."`
	PerDay    float64 `yaml:"per_day" min:"0.01" max:"1e12" doc:"So many a day, likewise; with zone: so many from one midnight to the next."`
	PerMonth  float64 `yaml:"per_month" min:"0.000001" max:"1e12" doc:"So many from the first of a month to the next, of the calendar of zone."`
	Zone      string  `yaml:"zone" doc:"Time zone whose midnight begins a day and a month, such as Europe/Berlin. Default: a day is no calendar's, and a month is one of UTC."`
}

// Period is a stretch of time for which an allowance says how much.
type Period struct {
	Name string // as in per_NAME
	Time time.Duration
	// Places is how many decimal places a figure of it may have: more could not be
	// kept to the fraction.
	Places int
}

// Periods are the stretches of time, the shortest first. A month has no Time.
var Periods = [...]Period{
	{"second", time.Second, 6}, {"minute", time.Minute, 5}, {"hour", time.Hour, 3}, {"day", 24 * time.Hour, 2}, {Name: "month"},
}

// Figures is what is allowed in each of Periods; 0 where nothing is said.
func (a Allowance) Figures() [len(Periods)]float64 {
	return [...]float64{a.PerSecond, a.PerMinute, a.PerHour, a.PerDay, a.PerMonth}
}

// Calendar reports whether a period is one of the calendar's.
func (a Allowance) Calendar(p Period) bool {
	return p.Name == "month" || p.Name == "day" && a.Zone != ""
}

// Limits is what the quota says of everything that goes by it.
func (q Quota) Limits() QuotaLimits {
	return QuotaLimits{q.Requests, q.Tokens, q.InputTokens, q.OutputTokens, q.Money, q.Concurrent}
}

// Allowances are the allowances by their keys.
func (l QuotaLimits) Allowances() map[string]Allowance {
	return map[string]Allowance{
		"requests": l.Requests, "tokens": l.Tokens, "input_tokens": l.InputTokens, "output_tokens": l.OutputTokens, moneyKey: l.Money,
	}
}

const (
	moneyKey    = "money"
	moneyMost   = 1e9
	moneyPlaces = 6
	figureMost  = 1e9 // of one with a fraction
)

// Bounds of policy/quota: how many limits may apply to one call, and how long the
// name of a tenant or a model may be that has limits of its own.
const (
	quotaBudgets = 32
	quotaName    = 128
)

// count is how many limits are written.
func (l QuotaLimits) count() (n int) {
	for _, a := range l.Allowances() { // a sum, in whatever order
		for _, figure := range a.Figures() {
			if figure != 0 {
				n++
			}
		}
	}
	if l.Concurrent != 0 {
		n++
	}
	return n
}

// most is how many limits apply to one call at most.
func (q Quota) most() int {
	tenant, model := q.PerTenant.count(), q.PerModel.count()
	for _, l := range q.Tenants {
		tenant = max(tenant, l.count())
	}
	for _, l := range q.Models {
		model = max(model, l.count())
	}
	return q.Limits().count() + tenant + model
}

func (q *Quota) fill() {
	if q.Refund == "" {
		q.Refund = Off
	}
}

// quotas checks what the ranges do not.
func (k *checker) quotas() {
	for _, q := range k.cfg.Quotas {
		at := join("quotas", q.Name)
		if q.most() == 0 {
			k.report(at, "add requests, tokens, money or concurrent, or remove it", "limits nothing")
		}
		k.quotaLimits(q.Limits(), at)
		k.quotaLimits(q.PerTenant, join(at, "per_tenant"))
		k.quotaLimits(q.PerModel, join(at, "per_model"))
		for _, named := range []struct {
			key   string
			whose map[string]QuotaLimits
		}{{"tenants", q.Tenants}, {"models", q.Models}} {
			for _, name := range sortedNames(named.whose) {
				if len(name) > quotaName || strings.HasPrefix(name, "#") {
					k.report(join(join(at, named.key), name), fmt.Sprintf("use up to %d characters, # not first", quotaName), "cannot be counted apart")
				}
				k.quotaLimits(named.whose[name], join(join(at, named.key), name))
			}
		}
	}
}

func (k *checker) quotaLimits(l QuotaLimits, at string) {
	all := l.Allowances()
	for _, unit := range sortedNames(all) {
		k.allowance(all[unit], unit == moneyKey, join(at, unit))
	}
}

func (k *checker) allowance(a Allowance, money bool, at string) {
	if a == (Allowance{}) {
		if k.written(at) {
			k.report(at, "add per_second, per_minute, per_hour, per_day or per_month", "says nothing")
		}
		return
	}
	shortest, zoned := "", false
	for i, figure := range a.Figures() {
		if figure == 0 {
			continue
		}
		p := Periods[i]
		if shortest == "" {
			shortest = p.Name
			if a.Burst != 0 && a.Calendar(p) {
				k.report(join(at, "burst"), "remove it", "means nothing: all of a calendar's %s can be spent at once", p.Name)
			}
		}
		zoned = zoned || p.Name == "day" || p.Name == "month"
		places := p.Places
		if a.Calendar(p) {
			places = 0
		}
		k.figure(figure, places, money, join(at, "per_"+p.Name))
	}
	switch {
	case shortest == "":
		k.report(at, "add per_second, per_minute, per_hour, per_day or per_month", "does not say how much in which time")
	case a.Zone != "" && !zoned:
		k.report(join(at, "zone"), "remove it, or write per_day or per_month", "means nothing: only a day and a month begin at a midnight")
	case a.Zone != "" && !isZone(a.Zone):
		k.report(join(at, "zone"), "write one of the time zone database, such as Europe/Berlin, or UTC", "is %s, which is no time zone", quote(a.Zone))
	}
	k.figure(a.Burst, 0, money, join(at, "burst"))
}

// figure checks that an amount can be counted exactly.
func (k *checker) figure(x float64, places int, money bool, at string) {
	if money {
		places = moneyPlaces
		if x > moneyMost {
			k.report(at, "give at most 1000000000", "is %s", strconv.FormatFloat(x, 'f', -1, 64))
			return
		}
	}
	text := strconv.FormatFloat(x, 'f', -1, 64)
	_, part, _ := strings.Cut(text, ".")
	switch {
	case !money && part != "" && x > figureMost:
		k.report(at, "write a whole number", "is %s, too large for a fraction", text)
	case len(part) <= places:
	case places == 0:
		k.report(at, "write a whole number", "is %s", text)
	default:
		k.report(at, fmt.Sprintf("write it with at most %d decimal places", places), "is %s, which cannot be counted to the fraction", text)
	}
}

func isZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "Local"
}

// classQuotas checks what a class says of quotas.
func (k *checker) classQuotas(c Class, at string) {
	k.distinct(c.Quota, at)
	var names []string
	for _, q := range k.cfg.Quotas {
		names = append(names, q.Name)
	}
	budgets := 0
	for i, name := range c.Quota {
		found := false
		for _, q := range k.cfg.Quotas {
			if q.Name == name {
				found = true
				budgets += q.most()
			}
		}
		switch {
		case !found && len(names) == 0:
			k.report(k.item(at, i), "add it under quotas", "is %s, which is not a quota", quote(name))
		case !found:
			k.report(k.item(at, i), oneOf(name, names), "is %s, which is not a quota", quote(name))
		}
	}
	if budgets > quotaBudgets {
		k.report(at, fmt.Sprintf("keep at most %d", quotaBudgets), "has %d limits that apply to one call", budgets)
	}
	if len(c.Quota) > 0 && k.cfg.Ledger == (Ledger{}) {
		k.report(at, `add ledger: { url: "sqlite:spillway.db" }`, "needs a ledger, which keeps what was spent")
	}
}

// unwiseQuotas warns of quotas that do not do what was probably meant.
func (k *checker) unwiseQuotas(classes []Class) {
	for _, q := range k.cfg.Quotas {
		at, used := join("quotas", q.Name), false
		for _, c := range classes {
			for _, name := range c.Quota {
				if name != q.Name {
					continue
				}
				used = true
				if c.Tenant.Key.IsZero() && (q.PerTenant != (QuotaLimits{}) || len(q.Tenants) > 0) {
					k.advise(join(join("classes", c.Name), "quota"), "add tenant: { key: ... } to the class",
						"has limits for each tenant, and nothing names one: all are one tenant")
				}
			}
		}
		if !used {
			k.advise(at, "name it in a class as quota: "+q.Name+", or remove it", "is used by no class")
		}
	}
}
