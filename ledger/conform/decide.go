package conform

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
)

func refusal(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	pool, day := slots("calls", 1), tokens("tokens", 100, 1, time.Hour)
	must(t, l, ask("a", oneCall(60), pool, day))
	g, err := l.Reserve(ctx, ask("b", oneCall(60), pool, day))
	if err != nil || g.Reason != reason.QuotaTokens || g.Budget != "tokens" || g.After <= 19*time.Hour {
		t.Errorf("%+v, %v: want the tokens to refuse for twenty hours", g, err)
	}
	if _, there, err := l.Find(ctx, "b", 0); there || err != nil {
		t.Errorf("a refused call is there: %v, %v", there, err)
	}
	if err := errors.Join(l.Start(ctx, "a", 0), l.Settle(ctx, "a", 0, oneCall(0))); err != nil {
		t.Fatal(err)
	}
	must(t, l, ask("c", oneCall(40), pool, day)) // the refused one took nothing
	if g, err := l.Reserve(ctx, ask("d", oneCall(101), pool, day)); err != nil || !g.Never() || g.Reason != reason.TooLarge {
		t.Errorf("%+v, %v: more than there ever is", g, err)
	}
}

func again(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	a := ask("a", oneCall(1), slots("calls", 2))
	must(t, l, a)
	for range 3 {
		g, err := l.Reserve(ctx, a)
		if err != nil || !g.Again || !g.OK() || g.State != quota.Reserved {
			t.Fatalf("%+v, %v: want the reservation that is there", g, err)
		}
	}
	other := a
	other.Amounts = oneCall(2)
	if _, err := l.Reserve(ctx, other); !errors.Is(err, ledger.ErrOther) {
		t.Errorf("%v: want ErrOther", err)
	}
	a.Attempt = 1
	must(t, l, a) // another attempt takes its own
	a.Attempt = 2
	if g, err := l.Reserve(ctx, a); err != nil || g.OK() {
		t.Errorf("%+v, %v: both slots are taken", g, err)
	}
}

// Fifty tenants that nobody knew, each with eight first calls at once and a budget
// for one.
func newcomers(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	const tenants, each = 50, 8
	var granted [tenants]int
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range tenants {
		for j := range each {
			all.Go(func() {
				g, err := l.Reserve(ctx, ask(fmt.Sprintf("%d-%d", i, j), oneCall(1), tokens(fmt.Sprint("tenant", i), 1, 1, time.Hour)))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if g.OK() {
					granted[i]++
				}
			})
		}
	}
	all.Wait()
	for i, n := range granted {
		if n != 1 {
			t.Errorf("tenant %d: %d granted, want 1", i, n)
		}
	}
}

// Two hundred calls for seven slots: never more than seven have one, and seven
// have it at some point.
func together(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	const calls, most = 200, 7
	var mu sync.Mutex
	running, peak := 0, 0
	freed := sync.NewCond(&mu)
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			<-begin
			id := fmt.Sprint(i)
			for {
				g, err := l.Reserve(ctx, ask(id, oneCall(1), slots("calls", most)))
				if err != nil {
					t.Error(err)
					return
				}
				if g.OK() {
					break
				}
				mu.Lock()
				for running >= most { // come back when there may be room
					freed.Wait()
				}
				mu.Unlock()
			}
			if err := l.Start(ctx, id, 0); err != nil {
				t.Error(err)
			}
			mu.Lock()
			running++
			peak = max(peak, running)
			mu.Unlock()
			mu.Lock()
			running--
			mu.Unlock()
			if err := l.Settle(ctx, id, 0, oneCall(1)); err != nil {
				t.Error(err)
			}
			freed.Broadcast()
		})
	}
	close(begin)
	all.Wait()
	if peak > most {
		t.Errorf("%d ran at once, allowed are %d", peak, most)
	}
	if g, err := l.Reserve(ctx, ask("last", quota.Amounts{quota.Concurrent: most}, slots("calls", most))); err != nil || !g.OK() {
		t.Errorf("%+v, %v: all slots are free again", g, err)
	}
}

func nonsense(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	long := string(make([]byte, ledger.NameMax+1))
	many := make([]ledger.Ref, ledger.BudgetsMax+1)
	for i := range many {
		many[i] = slots(fmt.Sprint(i), 1)
	}
	for name, a := range map[string]ledger.Ask{
		"no id":               ask("", oneCall(1), slots("calls", 1)),
		"a long id":           ask(long, oneCall(1), slots("calls", 1)),
		"a negative amount":   ask("a", oneCall(-1), slots("calls", 1)),
		"an immense amount":   ask("a", oneCall(1<<62), slots("calls", 1)),
		"no limit":            ask("a", oneCall(1), ledger.Ref{Name: "x"}),
		"a budget twice":      ask("a", oneCall(1), slots("calls", 1), slots("calls", 1)),
		"a nameless budget":   ask("a", oneCall(1), slots("", 1)),
		"too many budgets":    ask("a", oneCall(1), many...),
		"a long name":         ask("a", oneCall(1), slots(long, 1)),
		"a tenant's long one": {ID: "a", Tenant: long},
	} {
		if g, err := l.Reserve(ctx, a); err == nil {
			t.Errorf("%s: %+v", name, g)
		}
	}
	// What callers name things is text, whatever it holds.
	id := "'; DROP TABLE calls; --\x00\xff\u202e"
	must(t, l, ask(id, oneCall(1), slots("calls'\x00", 1)))
	if got := state(t, l, id); got != quota.Reserved {
		t.Errorf("it is %v", got)
	}
}
