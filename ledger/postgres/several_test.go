package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/test/cluster"
	"github.com/spillway-dev/spillway/test/need"
)

// gateways opens so many ledgers on one database, as so many processes would.
func gateways(t *testing.T, url string, n int) []*ledger.Ledger {
	t.Helper()
	all := make([]*ledger.Ledger, n)
	for i := range all {
		s, err := Open(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Open(context.Background(), s, fmt.Sprint("gateway", i))
		if err != nil {
			t.Fatal(err, s.Close())
		}
		all[i] = l
		t.Cleanup(func() { l.Close() })
	}
	return all
}

func addsUp(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	found, err := l.Audit(context.Background())
	if err != nil || len(found.Wrong) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// Four gateways, 200 calls at once for seven slots: what the provider sees is never
// more than seven, and seven at some point.
func TestSeveralGatewaysShareSlots(t *testing.T) {
	const most = 7
	all := gateways(t, cluster.Start(t).Database(t, "ledger"), 4)
	pool := ledger.Ref{Name: "calls", Limit: quota.Limit{Unit: quota.Concurrent, Most: most}}
	var running, peak atomic.Int64
	var full sync.Once
	reached := make(chan struct{})
	var hands sync.WaitGroup
	for i := range 200 {
		hands.Go(func() {
			l, id := all[i%len(all)], fmt.Sprint(i)
			for {
				g, err := l.Reserve(context.Background(), ledger.Ask{ID: id, Budgets: []ledger.Ref{pool}, Amounts: quota.Amounts{quota.Concurrent: 1}})
				if err != nil {
					t.Error(err)
					return
				}
				if g.OK() {
					break
				}
			}
			if err := l.Start(context.Background(), id, 0); err != nil {
				t.Error(err)
			}
			now := running.Add(1) // the provider counts
			for was := peak.Load(); now > was && !peak.CompareAndSwap(was, now); was = peak.Load() {
			}
			if now == most {
				full.Do(func() { close(reached) })
			}
			<-reached // the first seven wait for each other
			running.Add(-1)
			if err := l.Settle(context.Background(), id, 0, quota.Amounts{}); err != nil {
				t.Error(err)
			}
		})
	}
	hands.Wait()
	if p := peak.Load(); p > most {
		t.Errorf("the provider saw %d at once, allowed are %d", p, most)
	}
	addsUp(t, all[0])
}

// Sixteen gateways whose calls touch four of twenty budgets in any order: nobody
// sees a deadlock.
func TestBudgetsInAnyOrder(t *testing.T) {
	all := gateways(t, cluster.Start(t).Database(t, "ledger"), 16)
	var hands sync.WaitGroup
	for i, l := range all {
		for hand := range 4 {
			hands.Go(func() {
				luck := rand.New(rand.NewPCG(uint64(i), uint64(hand)))
				for n := range 15 {
					a := ledger.Ask{ID: fmt.Sprint(i, "-", hand, "-", n), Amounts: quota.Amounts{quota.Tokens: 1}}
					for _, b := range luck.Perm(20)[:4] {
						a.Budgets = append(a.Budgets, ledger.Ref{Name: fmt.Sprint("budget", b), Limit: quota.Limit{Unit: quota.Tokens, Most: 1 << 40, Refill: 1, Every: time.Hour}})
					}
					g, err := l.Reserve(context.Background(), a)
					if err == nil && g.OK() {
						err = errors.Join(l.Start(context.Background(), a.ID, 0), l.Settle(context.Background(), a.ID, 0, quota.Amounts{quota.Tokens: 2}))
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	hands.Wait()
	addsUp(t, all[0])
}

// The database is killed under load and started again: whatever was told is there,
// nothing was decided meanwhile, and the same gateways go on.
func TestTheDatabaseIsKilled(t *testing.T) {
	for range need.Count(t, "SPILLWAY_KILLS", 1) {
		t.Run("", databaseKilled)
		if t.Failed() {
			return
		}
	}
}

func databaseKilled(t *testing.T) {
	c := cluster.Start(t)
	l := gateways(t, c.Database(t, "ledger"), 1)[0]
	pool := ledger.Ref{Name: "calls", Limit: quota.Limit{Unit: quota.Concurrent, Most: 1 << 20}}
	ask := func(id string) ledger.Ask {
		return ledger.Ask{ID: id, Budgets: []ledger.Ref{pool}, Amounts: quota.Amounts{quota.Concurrent: 1}}
	}
	var mu sync.Mutex
	told := map[string]bool{} // true: granted; false: nobody knows
	enough, gone := make(chan struct{}), make(chan struct{})
	var hands sync.WaitGroup
	var granted atomic.Int64
	for hand := range 16 {
		hands.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprint(hand, "-", n)
				g, err := l.Reserve(context.Background(), ask(id))
				mu.Lock()
				told[id] = err == nil && g.OK()
				mu.Unlock()
				if err != nil {
					if !errors.Is(err, ledger.ErrUnavailable) {
						t.Errorf("%v, want that it is not available", err)
					}
					select {
					case <-gone:
						return
					default:
						continue
					}
				}
				if granted.Add(1) == 100 {
					close(enough)
				}
			}
		})
	}
	<-enough
	c.Kill(t)
	close(gone)
	hands.Wait()
	if _, err := l.Reserve(context.Background(), ask("while it is gone")); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("%v, want that it is not available", err)
	}
	c.Start(t)
	if _, err := l.Reserve(context.Background(), ask("after")); err != nil {
		t.Errorf("it is back: %v", err)
	}
	addsUp(t, l)
	for id, there := range told {
		if !there {
			continue
		}
		if _, found, err := l.Find(context.Background(), id, 0); !found || err != nil {
			t.Errorf("%s was granted and is not there: %v", id, err)
		}
	}
	// What nobody knew is told by asking again.
	for id, there := range told {
		if g, err := l.Reserve(context.Background(), ask(id)); err != nil || !g.OK() || there && !g.Again {
			t.Errorf("%s again: %+v, %v", id, g, err)
		}
	}
	addsUp(t, l)
}

func TestURLsAndPlacesThatCannotBeUsed(t *testing.T) {
	c := cluster.Start(t)
	newer := c.Database(t, "newer")
	s, err := Open(context.Background(), newer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Exec(context.Background(), "UPDATE spillway_version SET version = 9"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, c := range []struct{ name, url, want string }{
		{"no URL", "postgres://user:secret@host:port/", "the URL makes no sense"},
		{"nobody there", "postgres://user:secret@127.0.0.1:1/x", "127.0.0.1:1"},
		{"no such database", c.URL("nowhere"), `database "nowhere" does not exist`},
		{"a later version", newer, "of version 9"},
	} {
		s, err := Open(context.Background(), c.url)
		if err == nil {
			s.Close()
			t.Errorf("%s: it was opened", c.name)
			continue
		}
		if got := err.Error(); !strings.Contains(got, c.want) || strings.Contains(got, "secret") {
			t.Errorf("%s: %q, want %q and no secret", c.name, got, c.want)
		}
	}
}
