package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/test/cluster"
)

// Three gateways by way of a pooler that hands out a connection for each transaction,
// fewer than there are gateways' connections: quotas, heartbeats, calls and leases work,
// and nothing of a session stays behind.
func TestBehindAPooler(t *testing.T) {
	ctx := context.Background()
	c := cluster.Start(t)
	direct := c.Database(t, "ledger")
	url := c.Pooler(t, direct)
	all := gateways(t, url, 3)
	quotas := []quota.Quota{{Name: "q", All: []quota.Ref{
		{Name: "concurrent", Limit: quota.Limit{Unit: quota.Concurrent, Most: 3}},
		{Name: "tokens/hour", Limit: quota.Limit{Unit: quota.Tokens, Most: 10_000, Refill: 1, Every: time.Hour}},
	}}}
	for _, l := range all {
		if _, _, err := l.Configure(ctx, quotas, ledger.Refuse); err != nil {
			t.Fatal(err)
		}
		err := l.Join(ctx, ledger.Fleet{Heartbeat: 200 * time.Millisecond, DeadAfter: time.Minute, Failed: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
	}
	var running, peak, done atomic.Int64
	var hands sync.WaitGroup
	for g, l := range all {
		for hand := range 6 {
			hands.Go(func() {
				for n := 0; n < 10; {
					id := fmt.Sprint(g, "-", hand, "-", n)
					got, err := l.Reserve(ctx, ledger.Ask{ID: id, Budgets: quotas[0].Append(nil, "", ""), Amounts: quota.Amounts{quota.Concurrent: 1, quota.Tokens: 3}})
					if err != nil {
						t.Error(err)
						return
					}
					if !got.OK() {
						continue
					}
					n++
					err = l.Start(ctx, id, 0)
					now := running.Add(1)
					for was := peak.Load(); now > was && !peak.CompareAndSwap(was, now); was = peak.Load() {
					}
					running.Add(-1)
					if err = errors.Join(err, l.Settle(ctx, id, 0, quota.Amounts{quota.Tokens: 3})); err != nil {
						t.Error(err)
					}
					done.Add(1)
				}
			})
		}
	}
	hands.Wait()
	if p := peak.Load(); p > 3 || done.Load() != 180 {
		t.Errorf("%d at once, %d done", p, done.Load())
	}
	quotas[0].All[0].Limit.Most = 2
	if _, came, err := all[1].Configure(ctx, quotas, ledger.Replace); err != nil || came != ledger.Replaced {
		t.Errorf("%v, %v", came, err)
	}
	addsUp(t, all[0])
	s, err := Open(ctx, direct)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var locks int
	if err := s.pool.QueryRow(ctx, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").Scan(&locks); err != nil || locks != 0 {
		t.Errorf("%d locks stay behind; %v", locks, err)
	}
}
