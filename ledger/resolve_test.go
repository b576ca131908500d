package ledger_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/sqlite"
	"github.com/spillway-dev/spillway/policy/quota"
)

// A record is asked about what has been unknown for ten minutes, and not before; what
// it says ends a call, and what it cannot say leaves it, to be asked about again.
func TestARecordEndsWhatIsUnknown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "l.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := sqlite.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Open(context.Background(), s, "one")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ctx, cancel := context.WithCancel(context.Background())
		says := map[string]ledger.Statement{
			"absent":  {Said: quota.Absent, Evidence: "it is not in the list"},
			"ended":   {Said: quota.Ended, Evidence: "it is in the list", Used: &quota.Amounts{quota.Tokens: 7}},
			"running": {Said: quota.Running},
			"silent":  {Said: quota.CannotTell},
		}
		refs := []quota.Ref{
			{Name: "slots", Limit: quota.Limit{Unit: quota.Concurrent, Most: 9}},
			{Name: "tokens", Limit: quota.Limit{Unit: quota.Tokens, Most: 1000, Refill: 1, Every: time.Hour}},
		}
		lose := func(id string) {
			g, err := l.Reserve(ctx, ledger.Ask{ID: id, Budgets: refs, Amounts: quota.Amounts{quota.Concurrent: 1, quota.Tokens: 50}})
			if err := errors.Join(err, l.Start(ctx, id, 0), l.Lose(ctx, id, 0, "no answer")); err != nil || !g.OK() {
				t.Fatal(g, err)
			}
		}
		began := time.Now()
		var mu sync.Mutex
		asked := map[string][]time.Duration{}
		times := func() map[string][]time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(asked)
		}
		const after = 10 * time.Minute
		ended := make(chan error)
		go func() {
			ended <- l.Resolve(ctx, ledger.Resolver{
				Rule: quota.Reconcile{After: after},
				Ask: func(_ context.Context, c ledger.Call) (ledger.Statement, error) {
					mu.Lock()
					asked[c.ID] = append(asked[c.ID], time.Since(began))
					mu.Unlock()
					if c.ID == "broken" {
						return ledger.Statement{Said: quota.Absent}, errors.New("no answer")
					}
					return says[c.ID], nil
				},
			})
		}()
		for id := range says {
			lose(id)
		}
		lose("broken")
		time.Sleep(after - time.Second)
		if early := times(); len(early) != 0 {
			t.Errorf("asked too soon: %v", early)
		}
		time.Sleep(2 * after)
		synctest.Wait()
		for id, want := range map[string]quota.State{"absent": quota.Released, "ended": quota.Settled, "running": quota.Unknown, "silent": quota.Unknown, "broken": quota.Unknown} {
			c, _, err := l.Find(ctx, id, 0)
			if err != nil || c.State != want {
				t.Errorf("%s is %v, want %v; %v", id, c.State, want, err)
			}
			if n := len(times()[id]); n != 1 && want != quota.Unknown || n < 2 && want == quota.Unknown {
				t.Errorf("%s was asked about %d times", id, n)
			}
			if want == quota.Settled && c.Used[quota.Tokens] != 7 {
				t.Errorf("it used %v", c.Used)
			}
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		found, err := l.Audit(context.Background())
		if err != nil || len(found.Wrong) > 0 || found.Unknown != 3 {
			t.Errorf("%+v, %v", found, err)
		}
	})
}
