package postgres

import (
	"context"
	"testing"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/test/cluster"
)

// Quotas are replaced while another gateway makes a budget by those that it has just
// seen: who replaces them waits for it, and the budget has the new limit.
func TestQuotasAreReplacedWhileABudgetIsMade(t *testing.T) {
	ctx := context.Background()
	url := cluster.Start(t).Database(t, "ledger")
	l := gateways(t, url, 1)[0]
	maker, err := Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer maker.Close()
	of := func(n int64) []quota.Quota {
		return []quota.Quota{{Name: "q", Tenant: []quota.Ref{{Name: "concurrent", Limit: quota.Limit{Unit: quota.Concurrent, Most: n}}}}}
	}
	if _, _, err := l.Configure(ctx, of(5), ledger.Refuse); err != nil {
		t.Fatal(err)
	}
	replaced := make(chan error, 1)
	const name = "q/tenant/new/concurrent"
	err = maker.Update(ctx, ledger.Touches{Budgets: []string{name}}, func(r ledger.Rows) error {
		if _, err := r.Terms(); err != nil {
			return err
		}
		go func() {
			_, _, err := l.Configure(ctx, of(2), ledger.Replace)
			replaced <- err
		}()
		for waits := 0; waits == 0 && len(replaced) == 0; {
			err := maker.pool.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()").Scan(&waits)
			if err != nil {
				return err
			}
		}
		return r.SetBudget(name, quota.NewBudget(of(5)[0].Tenant[0].Limit, r.Time()))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-replaced; err != nil {
		t.Fatal(err)
	}
	err = maker.View(ctx, func(r ledger.Rows) error {
		b, there, err := r.Budget(name)
		if !there || b.Limit.Most != 2 {
			t.Errorf("the budget is %+v, there %v; want 2 at once", b, there)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
