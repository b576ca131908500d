package quota

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/unit"
)

func sampleQuotas() []Quota {
	perSecond := Ref{"requests/second", Limit{Unit: Requests, Most: 1, Refill: 1, Every: time.Second}}
	slots := Ref{"concurrent", Limit{Unit: Concurrent, Most: 7}}
	own := Ref{"requests/second", Limit{Unit: Requests, Most: 9, Refill: 1, Every: time.Second}}
	return []Quota{
		{Name: "a", All: []Ref{perSecond, slots}, Tenant: []Ref{perSecond, slots}, Model: []Ref{slots},
			Tenants: map[string][]Ref{"acme": {own}, "requests": {own}}, Models: map[string][]Ref{"x/requests": {own, slots}}},
		{Name: "b", All: []Ref{slots}},
	}
}

// The name of a budget says which limit it has, whatever a tenant is called, and no
// two tenants share one.
func TestABudgetsNameSaysItsLimit(t *testing.T) {
	names := rapid.OneOf(
		rapid.SampledFrom([]string{"", "acme", "requests", "requests/second", "concurrent", "x/requests", "/", "tenant/a", "#", "#acme", strings.Repeat("t", nameKept), strings.Repeat("t", nameKept+1)}),
		rapid.String(), rapid.StringN(100, 200, -1))
	rapid.Check(t, func(t *rapid.T) {
		quotas := sampleQuotas()
		q := rapid.SampledFrom(quotas).Draw(t, "quota")
		tenant, model := names.Draw(t, "tenant"), names.Draw(t, "model")
		refs := q.Append(nil, tenant, model)
		for i, r := range refs {
			if l, ok := Limited(quotas, r.Name); !ok || l != r.Limit {
				t.Fatalf("%q has the limit %v, %v; want %v", r.Name, l, ok, r.Limit)
			}
			if len(r.Name) > NameMax {
				t.Fatalf("%q is %d bytes long", r.Name, len(r.Name))
			}
			for _, other := range refs[:i] {
				if r.Name == other.Name {
					t.Fatalf("%q twice", r.Name)
				}
			}
		}
		if other := names.Draw(t, "another"); other != tenant {
			for _, r := range q.Append(nil, other, model) {
				for _, mine := range refs {
					if strings.HasPrefix(r.Name, q.Name+"/tenant/") && r.Name == mine.Name {
						t.Fatalf("%q and %q share %q", tenant, other, r.Name)
					}
				}
			}
		}
	})
}

func TestNoBudgetOfTheQuotas(t *testing.T) {
	for _, name := range []string{"", "a", "a/", "a/requests", "a/requests/day", "c/concurrent", "b/tenant/acme/concurrent", "a/tenant/acme/concurrent", "a/tenant/second", "aa/concurrent"} {
		if l, ok := Limited(sampleQuotas(), name); ok {
			t.Errorf("%q has the limit %v", name, l)
		}
	}
}

// A limit that becomes one of the calendar, or is one no more, goes by the other
// clock, and what was used is used.
func TestALimitChangesItsClock(t *testing.T) {
	bucket := Limit{Unit: Tokens, Most: 100, Refill: 100, Every: 24 * time.Hour}
	calendar := Limit{Unit: Tokens, Most: 80, Window: Window{Period: Day}}
	noon := Time{Run: 5, Wall: unit.Instant(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())}
	b := []Budget{NewBudget(bucket, noon)}
	if v := Decide(noon, b, Amounts{Tokens: 70}); !v.OK() {
		t.Fatal(v)
	}
	b[0].Relimit(noon, calendar)
	if got := b[0].Free(noon); got != 10 {
		t.Errorf("%d are left of 80 of which 70 were used, want 10", got)
	}
	midnight := Time{Run: noon.Run.Add(12 * time.Hour), Wall: noon.Wall.Add(12 * time.Hour)}
	if got := b[0].Free(midnight); got != 80 {
		t.Errorf("%d are left at midnight, want 80", got)
	}
	b[0].Relimit(midnight, bucket)
	if got := b[0].Free(midnight); got != 100 {
		t.Errorf("%d are left of the bucket, want 100", got)
	}
}
