package quota

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// Quota is one quota as it is configured: limits, and whom each of them is of. It is
// not changed once it is used.
type Quota struct {
	Name string
	// All is of everything that goes by the quota, Tenant of each tenant besides, and
	// Model of each model. The names are of the limit alone: requests/second.
	All, Tenant, Model []Ref
	// Tenants and Models have other limits than Tenant and Model, by name.
	Tenants, Models map[string][]Ref
}

// Ref names a budget, and says what its limit is where there is none of that name
// yet, so that nobody who is new is without a limit.
type Ref struct {
	// Name is at most NameMax bytes.
	Name  string
	Limit Limit
}

// Bounds of what a call may be charged to.
const (
	NameMax    = 256
	BudgetsMax = 32
)

// Append appends the budgets that a tenant's call of a model takes of, and returns the
// list. Who names no tenant, or no model, is one. It allocates their names.
func (q *Quota) Append(to []Ref, tenant, model string) []Ref {
	to = named(to, q.Name+"/", q.All)
	if limits := instead(q.Tenants, tenant, q.Tenant); len(limits) > 0 {
		to = named(to, q.Name+"/tenant/"+short(tenant)+"/", limits)
	}
	if limits := instead(q.Models, model, q.Model); len(limits) > 0 {
		to = named(to, q.Name+"/model/"+short(model)+"/", limits)
	}
	return to
}

func named(to []Ref, whose string, limits []Ref) []Ref {
	for _, r := range limits {
		to = append(to, Ref{whose + r.Name, r.Limit})
	}
	return to
}

func instead(others map[string][]Ref, name string, usual []Ref) []Ref {
	if own, there := others[name]; there {
		return own
	}
	return usual
}

// nameKept is how much of a tenant's or model's name a budget's name can hold beside
// the quota's name and the limit's.
const nameKept = 128

// short is a name as part of a budget's: a long one by its hash, marked so that no
// name that is short is the same. Who chooses names of the same hash shares a budget.
func short(name string) string {
	if len(name) <= nameKept && !strings.HasPrefix(name, "#") {
		return name
	}
	h := fnv.New128a()
	h.Write([]byte(name)) // never fails
	return fmt.Sprintf("#%x", h.Sum(nil))
}

// Limited returns the limit that the budget of that name has by the quotas, and false
// if they have no such budget.
func Limited(quotas []Quota, budget string) (Limit, bool) {
	for i := range quotas {
		q := &quotas[i]
		rest, ok := strings.CutPrefix(budget, q.Name+"/")
		if !ok {
			continue
		}
		if whose, ok := strings.CutPrefix(rest, "tenant/"); ok {
			return scoped(whose, q.Tenants, q.Tenant)
		}
		if whose, ok := strings.CutPrefix(rest, "model/"); ok {
			return scoped(whose, q.Models, q.Model)
		}
		return find(q.All, rest)
	}
	return Limit{}, false
}

// scoped finds a limit by whose it is and its name, which has one or two parts.
func scoped(rest string, others map[string][]Ref, usual []Ref) (Limit, bool) {
	at := len(rest)
	for range 2 {
		if at = strings.LastIndexByte(rest[:at], '/'); at < 0 {
			break
		}
		if l, ok := find(instead(others, rest[:at], usual), rest[at+1:]); ok {
			return l, true
		}
	}
	return Limit{}, false
}

func find(limits []Ref, name string) (Limit, bool) {
	for _, r := range limits {
		if r.Name == name {
			return r.Limit, true
		}
	}
	return Limit{}, false
}
