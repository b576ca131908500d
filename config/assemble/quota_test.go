package assemble_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/policy/quota"
)

const quotas = `
upstreams: { app: { url: "http://127.0.0.1:9001", slots: 20 } }
classes: { all: { quota: [openai, house], tenant: { key: client } } }
ledger: { url: "sqlite:x.db" }
quotas:
  openai: { requests: { burst: 2, per_second: 1, per_day: 10000 }, tokens: { per_minute: 30000.5 }, concurrent: 2,
            per_tenant: { requests: { burst: 1, per_second: 0.5 } }, tenants: { acme: { requests: { per_second: 2.5 }, concurrent: 1 } },
            per_model: { tokens: { per_day: 1000000, zone: UTC } }, models: { "a/b": { output_tokens: { per_hour: 0.125 } } } }
  house:  { money: { burst: 0.5, per_hour: 2, per_month: 99.5, zone: Europe/Berlin }, refund: on }
`

// What a call is charged to, by whose it is: all that apply, each with its own name.
func TestBudgetsOfACall(t *testing.T) {
	all := assemble.Quotas(parse(t, quotas))
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("this machine has no time zones:", err)
	}
	const day = 24 * time.Hour
	everybody := []quota.Ref{
		{Name: "openai/requests/second", Limit: quota.Limit{Unit: quota.Requests, Most: 2, Refill: 1, Every: time.Second}},
		{Name: "openai/requests/day", Limit: quota.Limit{Unit: quota.Requests, Most: 10000, Refill: 10000, Every: day}},
		{Name: "openai/tokens/minute", Limit: quota.Limit{Unit: quota.Tokens, Most: 30001, Refill: 60001, Every: 2 * time.Minute}},
		{Name: "openai/concurrent", Limit: quota.Limit{Unit: quota.Concurrent, Most: 2}},
	}
	perModel := quota.Limit{Unit: quota.Tokens, Most: 1000000, Window: quota.Window{Period: quota.Day}}
	house := []quota.Ref{
		{Name: "house/money/hour", Limit: quota.Limit{Unit: quota.Money, Most: 500000, Refill: 2000000, Every: time.Hour, Refund: true}},
		{Name: "house/money/month", Limit: quota.Limit{Unit: quota.Money, Most: 99500000, Window: quota.Window{Period: quota.Month, Zone: berlin}, Refund: true}},
	}
	for _, c := range []struct {
		say, tenant, model string
		want               []quota.Ref
	}{
		{"a tenant like any other", "zoe", "gpt", []quota.Ref{
			{Name: "openai/tenant/zoe/requests/second", Limit: quota.Limit{Unit: quota.Requests, Most: 1, Refill: 1, Every: 2 * time.Second}},
			{Name: "openai/model/gpt/tokens/day", Limit: perModel}}},
		{"a tenant with limits of its own, and a model with some", "acme", "a/b", []quota.Ref{
			{Name: "openai/tenant/acme/requests/second", Limit: quota.Limit{Unit: quota.Requests, Most: 3, Refill: 5, Every: 2 * time.Second}},
			{Name: "openai/tenant/acme/concurrent", Limit: quota.Limit{Unit: quota.Concurrent, Most: 1}},
			{Name: "openai/model/a/b/output_tokens/hour", Limit: quota.Limit{Unit: quota.OutputTokens, Most: 1, Refill: 1, Every: 8 * time.Hour}}}},
		{"nobody names a tenant or a model", "", "", []quota.Ref{
			{Name: "openai/tenant//requests/second", Limit: quota.Limit{Unit: quota.Requests, Most: 1, Refill: 1, Every: 2 * time.Second}},
			{Name: "openai/model//tokens/day", Limit: perModel}}},
	} {
		var got []quota.Ref
		for i := range all {
			got = all[i].Append(got, c.tenant, c.model)
		}
		want := slices.Concat(everybody, c.want, house)
		if !slices.EqualFunc(got, want, sameRef) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.say, got, want)
		}
	}
}

func sameRef(a, b quota.Ref) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// Whatever the file may say is a limit that policy takes, and comes to what was
// written, to the last place.
func TestWhateverIsWrittenIsALimit(t *testing.T) {
	keys := []string{"requests", "tokens", "input_tokens", "output_tokens", "money"}
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(config.Periods)-1).Draw(t, "period")
		p, key := config.Periods[i], rapid.SampledFrom(keys).Draw(t, "unit")
		places, most := p.Places, int64(1e12)
		if key == "money" {
			places, most = 6, 1e9
		}
		n := rapid.Int64Range(1, most).Draw(t, "figure")
		figure := fmt.Sprint(n)
		if p.Name == "month" && key != "money" {
			places = 0
		}
		if part := rapid.IntRange(0, places).Draw(t, "places"); part > 0 {
			figure = fmt.Sprintf("%d.%0*d", n%1e6, part, rapid.IntRange(1, 9).Draw(t, "last"))
		}
		cfg, err := config.Parse("x", fmt.Appendf(nil, "upstreams: { app: { url: \"http://h\" } }\nclasses: { all: {} }\nquotas: { q: { %s: { per_%s: %s } } }\n", key, p.Name, figure))
		if err != nil {
			t.Fatalf("%s: %v", figure, err)
		}
		limit := assemble.Quotas(cfg)[0].All[0].Limit
		if err := limit.Validate(); err != nil {
			t.Fatalf("%s per_%s: %s: %v", key, p.Name, figure, err)
		}
		got, want := big.NewRat(limit.Most, 1), new(big.Rat)
		want.SetString(figure)
		if key == "money" {
			want.Mul(want, big.NewRat(quota.Currency, 1))
		}
		if !limit.Windowed() {
			got = new(big.Rat).Mul(big.NewRat(limit.Refill, int64(limit.Every)), big.NewRat(int64(p.Time), 1))
		}
		if got.Cmp(want) != 0 {
			t.Fatalf("%s per_%s: %s comes to %v, %+v", key, p.Name, figure, got, limit)
		}
	})
}
