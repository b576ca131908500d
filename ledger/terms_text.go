package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
)

// writtenLimit is a limit as the ledger writes it.
type writtenLimit struct {
	Name   string       `json:"name"`
	Unit   string       `json:"unit"`
	Most   int64        `json:"most"`
	Refill int64        `json:"refill,omitempty"`
	Every  int64        `json:"every_ns,omitempty"`
	Period quota.Period `json:"period,omitempty"`
	Zone   string       `json:"zone,omitempty"`
	Refund bool         `json:"refund,omitempty"`
}

type writtenQuota struct {
	Name    string                    `json:"name"`
	All     []writtenLimit            `json:"all,omitempty"`
	Tenant  []writtenLimit            `json:"tenant,omitempty"`
	Tenants map[string][]writtenLimit `json:"tenants,omitempty"`
	Model   []writtenLimit            `json:"model,omitempty"`
	Models  map[string][]writtenLimit `json:"models,omitempty"`
}

// encodeQuotas writes quotas in order of name: the order in a file means nothing.
func encodeQuotas(quotas []quota.Quota) (string, error) {
	all := make([]writtenQuota, len(quotas))
	for i, q := range quotas {
		all[i] = writtenQuota{q.Name, writeLimits(q.All), writeLimits(q.Tenant), eachOf(q.Tenants, writeLimits), writeLimits(q.Model), eachOf(q.Models, writeLimits)}
	}
	slices.SortFunc(all, func(a, b writtenQuota) int { return strings.Compare(a.Name, b.Name) })
	b, err := json.Marshal(all)
	return string(b), err
}

func decodeQuotas(text string) ([]quota.Quota, error) {
	var all []writtenQuota
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("cannot be read: %w; use the program that wrote them", err)
	}
	quotas := make([]quota.Quota, len(all))
	var wrong error
	read := func(w []writtenLimit) []quota.Ref {
		refs, err := readLimits(w)
		wrong = errors.Join(wrong, err)
		return refs
	}
	for i, w := range all {
		quotas[i] = quota.Quota{Name: w.Name, All: read(w.All), Tenant: read(w.Tenant), Tenants: eachOf(w.Tenants, read), Model: read(w.Model), Models: eachOf(w.Models, read)}
	}
	return quotas, wrong
}

func eachOf[A, B any](from map[string]A, f func(A) B) map[string]B {
	if len(from) == 0 {
		return nil
	}
	to := make(map[string]B, len(from))
	for name, v := range from {
		to[name] = f(v)
	}
	return to
}

func writeLimits(refs []quota.Ref) (all []writtenLimit) {
	for _, r := range refs {
		l := r.Limit
		all = append(all, writtenLimit{r.Name, l.Unit.String(), l.Most, l.Refill, int64(l.Every), l.Window.Period, zoneName(l.Window.Zone), l.Refund})
	}
	return all
}

func readLimits(written []writtenLimit) (refs []quota.Ref, err error) {
	for _, w := range written {
		l := quota.Limit{Most: w.Most, Refill: w.Refill, Every: time.Duration(w.Every), Refund: w.Refund}
		for l.Unit = 0; int(l.Unit) < quota.Units && l.Unit.String() != w.Unit; l.Unit++ {
		}
		l.Window.Period = w.Period
		if w.Zone != "" {
			if l.Window.Zone, err = time.LoadLocation(w.Zone); err != nil {
				return nil, fmt.Errorf("time zone %q: %w; install the machine's time zones", w.Zone, err)
			}
		}
		if err := l.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w; use the program that wrote it", w.Name, err)
		}
		refs = append(refs, quota.Ref{Name: w.Name, Limit: l})
	}
	return refs, nil
}

func zoneName(z *time.Location) string {
	if z == nil {
		return ""
	}
	return z.String()
}

// Words says a limit in a few words.
func Words(l quota.Limit) string {
	most := fmt.Sprint(l.Most)
	if l.Unit == quota.Money {
		most = inCurrency(l.Most)
	}
	switch {
	case l.Unit == quota.Concurrent:
		return most + " at once"
	case l.Windowed():
		period := "day"
		if l.Window.Period == quota.Month {
			period = "month"
		}
		if l.Window.Zone == nil {
			return most + " a " + period + " of UTC"
		}
		return most + " a " + period + " of " + zoneName(l.Window.Zone)
	case l.Unit == quota.Money:
		return most + " at most, " + inCurrency(l.Refill) + " every " + l.Every.String()
	}
	return fmt.Sprintf("%s at most, %d every %v", most, l.Refill, l.Every)
}

func inCurrency(n int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%06d", n/quota.Currency, n%quota.Currency), "0"), ".")
}

// differ says of which limit two texts say something else, the first in order of name.
func differ(holds, brings string) string {
	there, err := limitsIn(holds)
	if err != nil {
		return "they " + err.Error()
	}
	here, err := limitsIn(brings)
	if err != nil {
		return err.Error()
	}
	all := maps.Clone(there)
	maps.Copy(all, here)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch h, t := here[name], there[name]; {
		case h == t:
		case h == "":
			return fmt.Sprintf("it has %s (%s), which is not among those brought", name, t)
		case t == "":
			return fmt.Sprintf("it does not have %s (%s)", name, h)
		default:
			return fmt.Sprintf("%s is %s there and %s here", name, t, h)
		}
	}
	return "they are written in another way"
}

// limitsIn are the limits of a text in words, by the names of their budgets.
func limitsIn(text string) (map[string]string, error) {
	quotas, err := decodeQuotas(text)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	add := func(whose string, refs []quota.Ref) {
		for _, r := range refs {
			all[whose+"/"+r.Name] = Words(r.Limit) + refunds(r.Limit)
		}
	}
	for _, q := range quotas {
		add(q.Name, q.All)
		add(q.Name+"/tenant/*", q.Tenant)
		add(q.Name+"/model/*", q.Model)
		for name, refs := range q.Tenants {
			add(q.Name+"/tenant/"+name, refs)
		}
		for name, refs := range q.Models {
			add(q.Name+"/model/"+name, refs)
		}
	}
	return all, nil
}

func refunds(l quota.Limit) string {
	if l.Refund {
		return ", given back where unused"
	}
	return ""
}
