package conform

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Four processes spend one budget by leases, each as much as it can, and one of them
// dies on the way: together they never spend more than there is; what they leave is at
// most a twentieth, and what the dead one held is counted as spent.
func leases(t *testing.T, fresh func(testing.TB) Place) {
	const most = 20_000
	budget := tokens("tokens", most, 1, 100*time.Hour)
	h := newHouse(t, fresh(t))
	var all [4]*ledger.Ledger
	var leasers [4]*ledger.Leaser
	var dies *way
	for i := range all {
		all[i], dies = h.process(t, fmt.Sprint(i))
		joined(t, all[i])
		leasers[i] = ledger.NewLeaser(all[i])
	}
	var spent, waits atomic.Int64
	var hands sync.WaitGroup
	for i, s := range leasers {
		for range 4 {
			hands.Go(func() {
				for n := 0; ; n++ {
					if i == 3 && n == 50 {
						return
					}
					v, waited, err := s.Take(ctx, []ledger.Ref{budget}, quota.Amounts{quota.Tokens: 1})
					switch {
					case err != nil:
						t.Error(err)
						return
					case v.OK():
						spent.Add(1)
						if waited {
							waits.Add(1)
						}
					case v.After > time.Minute: // there is nothing more
						return
					}
				}
			})
		}
	}
	hands.Wait()
	dies.stopped.Lock()
	defer dies.stopped.Unlock()
	for _, s := range leasers[:3] {
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	if n := spent.Load(); n > most || n < most*95/100 {
		t.Errorf("%d were spent of %d", n, most)
	}
	t.Logf("%d of %d spent; %d of them waited", spent.Load(), most, waits.Load())
	gone := func() (gone bool) {
		err := h.View(ctx, func(r ledger.Rows) error {
			left, err := r.LeasesOf("3")
			gone = len(left) == 0
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return gone
	}
	for !gone() { // the others notice
	}
	budgets, _, err := all[0].Budgets(ctx, "", 1)
	if err != nil || budgets[0].Spent < spent.Load() || budgets[0].Spent+budgets[0].Left > most {
		t.Errorf("%+v, %v; %d were spent", budgets, err, spent.Load())
	}
	found, err := all[0].Audit(ctx)
	if err != nil || len(found.Wrong) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// What is no bucket of some size is not leased, and what nobody may have is not asked.
func notLeased(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	s := ledger.NewLeaser(l)
	for name, c := range map[string]struct {
		ref ledger.Ref
		ask int64
	}{
		"slots":              {slots("calls", 1000), 1},
		"a small bucket":     {tokens("small", 99, 1, time.Second), 1},
		"more than is held":  {tokens("large", 1000, 1, time.Second), 51},
		"more than there is": {tokens("large", 1000, 1, time.Second), 1001},
	} {
		var a quota.Amounts
		a[c.ref.Limit.Unit] = c.ask
		if v, _, err := s.Take(ctx, []ledger.Ref{c.ref}, a); !errors.Is(err, ledger.ErrNoLease) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	if v, _, err := s.Take(ctx, []ledger.Ref{tokens("large", 1000, 1, time.Second), tokens("other", 200, 1, time.Second)}, quota.Amounts{quota.Tokens: 5}); err != nil || !v.OK() {
		t.Errorf("%+v, %v", v, err)
	}
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	budgets, _, err := l.Budgets(ctx, "", 10)
	for _, b := range budgets {
		if b.Spent != 5 && b.Spent != 0 || b.Left+b.Spent != b.Limit.Most && b.Left != b.Limit.Most {
			t.Errorf("%+v", b)
		}
	}
	if err != nil {
		t.Error(err)
	}
	for _, a := range []ledger.Renewal{{Budget: slots("calls", 9)}, {Budget: tokens("x", 1, 1, 1), Holding: -1}, {Budget: tokens("", 1, 1, 1)}} {
		if _, err := l.Renew(ctx, a); err == nil {
			t.Errorf("%+v is renewed", a)
		}
	}
}
