package conform

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Calls are listed page by page, each once, whatever is asked for.
func listed(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	pool, other := slots("calls", 100), slots("others", 100)
	for i := range 20 {
		id, budget := fmt.Sprintf("c%02d", i), pool
		if i%4 == 3 {
			budget = other
		}
		a := ask(id, oneCall(1), budget)
		a.Tenant = fmt.Sprint("tenant", i%2)
		must(t, l, a)
		a.Attempt = 1
		must(t, l, a)
		var err error
		switch i % 5 {
		case 1:
			err = l.Start(ctx, id, 0)
		case 2:
			err = errors.Join(l.Start(ctx, id, 0), l.Lose(ctx, id, 0, "?"))
		case 3:
			err = errors.Join(l.Start(ctx, id, 0), l.Settle(ctx, id, 0, oneCall(1)))
		case 4:
			err = l.Release(ctx, id, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		f    ledger.CallFilter
		want int
	}{
		{"all", ledger.CallFilter{}, 40},
		{"open", ledger.CallFilter{States: []quota.State{quota.Reserved, quota.Started, quota.Unknown}}, 32},
		{"unknown", ledger.CallFilter{States: []quota.State{quota.Unknown}}, 4},
		{"settled or unknown", ledger.CallFilter{States: []quota.State{quota.Settled, quota.Unknown}}, 8},
		{"a tenant's", ledger.CallFilter{Tenant: "tenant1"}, 20},
		{"a budget's", ledger.CallFilter{Budget: "others"}, 10},
		{"an owner's", ledger.CallFilter{Owner: "one"}, 40},
		{"nobody's", ledger.CallFilter{Owner: "two"}, 0},
	} {
		var found []ledger.Key
		f := c.f
		for pages := 0; pages < 50; pages++ {
			calls, more, err := l.Calls(ctx, f, 3)
			if err != nil || len(calls) > 3 {
				t.Fatal(calls, err)
			}
			for _, one := range calls {
				found = append(found, ledger.Key{ID: one.ID, Attempt: one.Attempt})
			}
			if f.After = more; more == (ledger.Key{}) {
				break
			}
		}
		if len(found) != c.want {
			t.Errorf("%s: %d calls, want %d", c.name, len(found), c.want)
		}
		slices.SortFunc(found, func(a, b ledger.Key) int { return compareKeys(a, b) })
		if len(slices.Compact(found)) != c.want {
			t.Errorf("%s: some are listed twice", c.name)
		}
	}
	attempts, err := l.Attempts(ctx, "c03")
	if err != nil || len(attempts) != 2 || attempts[0].State != quota.Settled || attempts[1].Attempt != 1 {
		t.Errorf("%+v, %v", attempts, err)
	}
	if none, err := l.Attempts(ctx, "nobody"); err != nil || len(none) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	budgets, more, err := l.Budgets(ctx, "", 1)
	if err != nil || len(budgets) != 1 || more != "calls" || budgets[0].Held != 24 || budgets[0].Free != 76 {
		t.Errorf("%+v, %q, %v", budgets, more, err)
	}
	if budgets, more, err = l.Budgets(ctx, more, 10); err != nil || len(budgets) != 1 || more != "" || budgets[0].Name != "others" {
		t.Errorf("%+v, %q, %v", budgets, more, err)
	}
}

func compareKeys(a, b ledger.Key) int {
	if a.ID == b.ID {
		return int(a.Attempt - b.Attempt)
	}
	if a.ID < b.ID {
		return -1
	}
	return 1
}
