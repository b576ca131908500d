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

func life(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	pool := slots("calls", 1)
	steps := map[string]func(id string) error{
		"start":   func(id string) error { return l.Start(ctx, id, 0) },
		"settle":  func(id string) error { return l.Settle(ctx, id, 0, oneCall(5)) },
		"lose":    func(id string) error { return l.Lose(ctx, id, 0, "no answer") },
		"release": func(id string) error { return l.Release(ctx, id, 0) },
		"known":   func(id string) error { return l.Reconcile(ctx, id, 0, ledger.Known{Evidence: "its bill"}) },
		"not started": func(id string) error {
			return l.Reconcile(ctx, id, 0, ledger.Known{NotStarted: true, Evidence: "no bill"})
		},
	}
	for i, c := range []struct {
		way  []string // the last is looked at
		want quota.State
		err  error
	}{
		{[]string{"start"}, quota.Started, nil},
		{[]string{"settle"}, quota.Reserved, quota.ErrNotStarted},
		{[]string{"lose"}, quota.Reserved, quota.ErrNotStarted},
		{[]string{"release"}, quota.Released, nil},
		{[]string{"start", "release"}, quota.Started, quota.ErrStarted},
		{[]string{"start", "settle"}, quota.Settled, nil},
		{[]string{"start", "settle", "settle"}, quota.Settled, quota.ErrOver},
		{[]string{"start", "lose"}, quota.Unknown, nil},
		{[]string{"start", "lose", "release"}, quota.Unknown, quota.ErrStarted},
		{[]string{"start", "lose", "settle"}, quota.Settled, nil}, // a late answer is evidence
		{[]string{"start", "lose", "known"}, quota.Settled, nil},
		{[]string{"start", "lose", "not started"}, quota.Released, nil},
		{[]string{"release", "start"}, quota.Released, quota.ErrOver},
	} {
		id := fmt.Sprint("call", i)
		must(t, l, ask(id, oneCall(5), pool))
		var err error
		for _, step := range c.way {
			err = steps[step](id)
		}
		if got := state(t, l, id); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%v: %v (%v), want %v (%v)", c.way, got, err, c.want, c.err)
		}
		// The slot is free again if and only if its end is known.
		g, gone := l.Reserve(ctx, ask(id+"-next", oneCall(5), pool))
		if gone != nil || g.OK() != c.want.Final() {
			t.Errorf("%v: the next: %+v, %v", c.way, g, gone)
		}
		if g.OK() {
			l.Release(ctx, id+"-next", 0)
			continue
		}
		if c.want == quota.Reserved {
			l.Release(ctx, id, 0)
		} else {
			l.Settle(ctx, id, 0, oneCall(5))
		}
	}
	if err := l.Start(ctx, "nobody", 0); !errors.Is(err, ledger.ErrNoCall) {
		t.Error(err)
	}
}

// Told three times, and twice at once, it is one end.
func settledOnce(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	must(t, l, ask("a", oneCall(10), slots("calls", 3), tokens("tokens", 100, 1, time.Hour)))
	if err := l.Start(ctx, "a", 0); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	told := map[bool]int{}
	for range 20 {
		all.Go(func() {
			err := l.Settle(ctx, "a", 0, oneCall(30))
			if err != nil && !errors.Is(err, quota.ErrOver) {
				t.Error(err)
			}
			mu.Lock()
			told[err == nil]++
			mu.Unlock()
		})
	}
	all.Wait()
	if told[true] != 1 {
		t.Errorf("settled %d times", told[true])
	}
	if g, err := l.Reserve(ctx, ask("b", oneCall(71), slots("calls", 3), tokens("tokens", 100, 1, time.Hour))); err != nil || g.OK() {
		t.Errorf("%+v, %v: 30 of 100 are spent", g, err)
	}
	must(t, l, ask("c", oneCall(70), slots("calls", 3), tokens("tokens", 100, 1, time.Hour)))
}

func restart(t *testing.T, fresh func(testing.TB) Place) {
	p := fresh(t)
	l := open(t, p, "one")
	pool, day := slots("calls", 3), ledger.Ref{Name: "money", Limit: quota.Limit{
		Unit: quota.Money, Most: 100, Window: quota.Window{Period: quota.Day, Zone: time.UTC}, Refund: true}}
	a := ask("a", quota.Amounts{quota.Concurrent: 1, quota.Money: 40}, pool, day)
	must(t, l, a)
	if err := errors.Join(l.Start(ctx, "a", 0), l.Lose(ctx, "a", 0, "it hung up")); err != nil {
		t.Fatal(err)
	}
	before, _, _ := l.Find(ctx, "a", 0)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(ctx, ask("late", oneCall(1), pool)); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("%v: it is closed", err)
	}
	l = open(t, p, "two")
	after, there, err := l.Find(ctx, "a", 0)
	if err != nil || !there || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%+v, want %+v (%v)", after, before, err)
	}
	found, err := l.Audit(ctx)
	if err != nil || found.Unknown != 1 || found.Budgets != 2 || found.Calls != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	if g, err := l.Reserve(ctx, ask("b", quota.Amounts{quota.Concurrent: 3}, pool, day)); err != nil || g.Reason != reason.QuotaConcurrency {
		t.Errorf("%+v, %v: what is unknown keeps its slot over a restart", g, err)
	}
}

func orphans(t *testing.T, fresh func(testing.TB) Place) {
	p := fresh(t)
	l := open(t, p, "dead")
	pool := slots("calls", 3)
	for _, id := range []string{"reserved", "started", "settled"} {
		must(t, l, ask(id, oneCall(1), pool))
	}
	if err := errors.Join(l.Start(ctx, "started", 0), l.Start(ctx, "settled", 0), l.Settle(ctx, "settled", 0, oneCall(1)), l.Close()); err != nil {
		t.Fatal(err)
	}
	l = open(t, p, "alive")
	must(t, l, ask("mine", oneCall(1), pool))
	dead := func(owner string) bool { return owner != "alive" }
	for i, want := range [][2]int{{1, 1}, {0, 0}} {
		released, unknown, err := l.Orphan(ctx, dead, "its process is gone")
		if err != nil || released != want[0] || unknown != want[1] {
			t.Errorf("look %d: %d released, %d unknown, %v, want %v", i, released, unknown, err, want)
		}
	}
	for id, want := range map[string]quota.State{"reserved": quota.Released, "started": quota.Unknown, "settled": quota.Settled, "mine": quota.Reserved} {
		if got := state(t, l, id); got != want {
			t.Errorf("%s is %v, want %v", id, got, want)
		}
	}
	c, _, _ := l.Find(ctx, "started", 0)
	if c.Evidence != "its process is gone" {
		t.Errorf("evidence %q", c.Evidence)
	}
}

func evidence(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	pool := slots("calls", 1)
	must(t, l, ask("a", oneCall(1), pool))
	if err := l.Start(ctx, "a", 0); err != nil {
		t.Fatal(err)
	}
	if l.Reconcile(ctx, "a", 0, ledger.Known{NotStarted: true, Evidence: "I think so"}) == nil {
		t.Error("a call whose owner still has it was resolved")
	}
	if err := l.Lose(ctx, "a", 0, "\xff no answer"); err != nil {
		t.Fatal(err)
	}
	if l.Reconcile(ctx, "a", 0, ledger.Known{NotStarted: true}) == nil {
		t.Error("resolved without evidence")
	}
	if err := l.Reconcile(ctx, "a", 0, ledger.Known{NotStarted: true, Evidence: "its list of calls of 12:00"}); err != nil {
		t.Error(err)
	}
	c, _, err := l.Find(ctx, "a", 0)
	if err != nil || c.State != quota.Released || c.Evidence != "its list of calls of 12:00" {
		t.Errorf("%+v, %v", c, err)
	}
}

// Of 600 calls that have ended, and of some that have not, a sweep removes the old
// that have; the audit agrees before and after.
func swept(t *testing.T, fresh func(testing.TB) Place) {
	h := &hand{at: time.Date(2026, 5, 10, 12, 0, 0, 0, time.UTC)}
	l := openAt(t, fresh(t), "one", h.now)
	pool, day := slots("calls", 1000), tokens("tokens", 1<<40, 1, time.Hour)
	var all sync.WaitGroup
	for i := range 600 {
		all.Go(func() {
			id := fmt.Sprint("old", i)
			_, err := l.Reserve(ctx, ask(id, oneCall(3), pool, day))
			if err := errors.Join(err, l.Start(ctx, id, 0), l.Settle(ctx, id, 0, oneCall(5))); err != nil {
				t.Error(err)
			}
		})
	}
	for _, id := range []string{"reserved", "started", "unknown"} {
		must(t, l, ask(id, oneCall(1), pool, day))
	}
	if err := errors.Join(l.Start(ctx, "started", 0), l.Start(ctx, "unknown", 0), l.Lose(ctx, "unknown", 0, "no answer")); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	h.step(48 * time.Hour)
	must(t, l, ask("young", oneCall(1), pool, day))
	if err := l.Release(ctx, "young", 0); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{600, 0} {
		if n, err := l.Sweep(ctx, 24*time.Hour); n != want || err != nil {
			t.Errorf("sweep %d removed %d, want %d; %v", i, n, want, err)
		}
	}
	found, err := l.Audit(ctx)
	if err != nil || found.Calls != 4 || found.Unknown != 1 || len(found.Wrong) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
