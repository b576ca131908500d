package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// house is a store that several processes have open. Each has a way to it of its own,
// which can be stopped: what the process asks of the store waits then, as if it was
// stopped itself.
type house struct {
	ledger.Store
	mu   sync.Mutex
	ways int
}

func newHouse(t testing.TB, p Place) *house {
	t.Helper()
	s, err := p.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &house{Store: s}
}

// way is a process's.
type way struct {
	*house
	stopped sync.RWMutex
	alone   bool
	closed  sync.Once
}

func (w *way) Alone() bool { return w.alone }

func (w *way) Update(ctx context.Context, t ledger.Touches, f func(ledger.Rows) error) error {
	w.stopped.RLock()
	defer w.stopped.RUnlock()
	return w.house.Update(ctx, t, f)
}

func (w *way) View(ctx context.Context, f func(ledger.Rows) error) error {
	w.stopped.RLock()
	defer w.stopped.RUnlock()
	return w.house.View(ctx, f)
}

// Close closes the store with the last way.
func (w *way) Close() (err error) {
	w.closed.Do(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.ways--; w.ways == 0 {
			err = w.house.Store.Close()
		}
	})
	return err
}

// process opens a ledger by a way of its own.
func (h *house) process(t testing.TB, owner string) (*ledger.Ledger, *way) {
	t.Helper()
	h.mu.Lock()
	h.ways++
	h.mu.Unlock()
	w := &way{house: h}
	l, err := ledger.Open(ctx, w, owner)
	if err != nil {
		t.Fatal(errors.Join(err, w.Close()))
	}
	t.Cleanup(func() { closeAndAudit(t, l) })
	return l, w
}

// death is what a ledger was told of who has died.
type death struct {
	owners            []string
	released, unknown int
}

// heartbeat is long enough for a busy machine: whoever beats is rarely late by it.
const heartbeat = 100 * time.Millisecond

// joined has a ledger join, and returns of whom it hears that he is dead, and its names.
func joined(t testing.TB, l *ledger.Ledger) (deaths chan death, names chan string) {
	t.Helper()
	deaths, names = make(chan death, 100), make(chan string, 100)
	err := l.Join(ctx, ledger.Fleet{
		Heartbeat: heartbeat, DeadAfter: 4 * heartbeat,
		Dead: func(owners []string, released, unknown int, gone func(string) bool) {
			for _, name := range owners {
				if !gone(name) {
					t.Errorf("%s is dead and not gone", name)
				}
			}
			deaths <- death{owners, released, unknown}
		},
		Renamed: func(_, is string) { names <- is },
		Failed: func(err error) {
			if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return deaths, names
}

// A process is stopped for longer than it may say nothing. Another releases what it had
// reserved, and what it had started is unknown. When it goes on it may not start what
// was released, what it had sent is settled all the same, and it goes by another name.
func stopped(t *testing.T, fresh func(testing.TB) Place) {
	h := newHouse(t, fresh(t))
	a, _ := h.process(t, "a")
	b, way := h.process(t, "b")
	deaths, _ := joined(t, a)
	_, names := joined(t, b)
	pool := slots("calls", 3)
	must(t, a, ask("mine", oneCall(1), pool))
	must(t, b, ask("reserved", oneCall(1), pool))
	must(t, b, ask("started", oneCall(1), pool))
	if err := b.Start(ctx, "started", 0); err != nil {
		t.Fatal(err)
	}
	way.stopped.Lock()
	if d := <-deaths; !slices.Equal(d.owners, []string{"b"}) || d.released != 1 || d.unknown != 1 {
		t.Errorf("%+v; want that b is dead, one released, one unknown", d)
	}
	for id, want := range map[string]quota.State{"mine": quota.Reserved, "reserved": quota.Released, "started": quota.Unknown} {
		if got := state(t, a, id); got != want {
			t.Errorf("%s is %v, want %v", id, got, want)
		}
	}
	if g, err := a.Reserve(ctx, ask("more", quota.Amounts{quota.Concurrent: 2}, pool)); err != nil || g.OK() {
		t.Errorf("%+v, %v: a slot is free whose call may run", g, err)
	}
	way.stopped.Unlock()
	if err := b.Start(ctx, "reserved", 0); !errors.Is(err, quota.ErrOver) {
		t.Errorf("%v: what was released may not be started", err)
	}
	if err := b.Settle(ctx, "started", 0, oneCall(1)); err != nil {
		t.Errorf("an answer that comes late: %v", err)
	}
	if name := <-names; name != "b+1" {
		t.Errorf("it goes on as %q", name)
	}
	must(t, b, ask("again", oneCall(1), pool))
	if c, _, err := b.Find(ctx, "again", 0); err != nil || c.Owner != "b+1" {
		t.Errorf("%+v, %v: whose is it?", c, err)
	}
}

// A process that ends says so: nobody waits to find out.
func left(t *testing.T, fresh func(testing.TB) Place) {
	h := newHouse(t, fresh(t))
	a, _ := h.process(t, "a")
	b, _ := h.process(t, "b")
	joined(t, a)
	joined(t, b)
	pool := slots("calls", 2)
	must(t, b, ask("reserved", oneCall(1), pool))
	must(t, b, ask("started", oneCall(1), pool))
	if err := errors.Join(b.Start(ctx, "started", 0), b.Close()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]quota.State{"reserved": quota.Released, "started": quota.Unknown} {
		if got := state(t, a, id); got != want {
			t.Errorf("%s is %v, want %v", id, got, want)
		}
	}
}

// Where nobody else can have the store open, whoever was there before is dead when the
// next comes.
func alone(t *testing.T, fresh func(testing.TB) Place) {
	p := fresh(t)
	s, err := p.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Alone() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	h := &house{Store: s}
	a, way := h.process(t, "a")
	joined(t, a)
	must(t, a, ask("started", oneCall(1), slots("calls", 1)))
	if err := a.Start(ctx, "started", 0); err != nil {
		t.Fatal(err)
	}
	way.stopped.Lock() // and it is never heard of again
	defer way.stopped.Unlock()
	b, sole := h.process(t, "b")
	sole.alone = true
	deaths, _ := joined(t, b)
	if d := <-deaths; !slices.Equal(d.owners, []string{"a"}) || d.unknown != 1 {
		t.Errorf("%+v", d)
	}
}

// house1 is one quota: so many tokens for each tenant, and so many calls at once.
func house1(tokens, calls int64) []quota.Quota {
	return []quota.Quota{{Name: "q",
		All:    []quota.Ref{slots("concurrent", calls)},
		Tenant: []quota.Ref{{Name: "tokens/hour", Limit: quota.Limit{Unit: quota.Tokens, Most: tokens, Refill: 1, Every: time.Hour}}},
	}}
}

// askOf asks by the quotas that a process goes by.
func askOf(l *ledger.Ledger, id, tenant string, tokens int64) ledger.Ask {
	quotas, _ := l.Quotas()
	a := ledger.Ask{ID: id, Tenant: tenant, Amounts: oneCall(tokens)}
	for i := range quotas {
		a.Budgets = quotas[i].Append(a.Budgets, tenant, "")
	}
	return a
}

// The ledger's quotas are every process's: who brings others is refused, adopts them or
// replaces them, and says which. Limits change at once and keep what is used.
func configured(t *testing.T, fresh func(testing.TB) Place) {
	h := newHouse(t, fresh(t))
	a, _ := h.process(t, "a")
	b, _ := h.process(t, "b")
	bring := func(l *ledger.Ledger, q []quota.Quota, on ledger.OnOther, version int64, came ledger.Came) {
		t.Helper()
		is, got, err := l.Configure(ctx, q, on)
		if err != nil || got != came || is.Version != version {
			t.Fatalf("%+v, %v, %v; want version %d, %v", is, got, err, version, came)
		}
	}
	bring(a, house1(100, 5), ledger.Refuse, 1, ledger.First)
	bring(b, house1(100, 5), ledger.Refuse, 1, ledger.Same)
	must(t, a, askOf(a, "a1", "acme", 70))

	_, _, err := b.Configure(ctx, house1(80, 2), ledger.Refuse)
	var other *ledger.OtherTerms
	if !errors.As(err, &other) || other.Holds.Version != 1 || other.Holds.By != "a" ||
		!strings.Contains(err.Error(), "q/concurrent is 5 at once there and 2 at once here") {
		t.Fatalf("%v", err)
	}
	bring(b, house1(80, 2), ledger.Adopt, 1, ledger.Adopted)
	if q, v := b.Quotas(); v != 1 || q[0].All[0].Limit.Most != 5 {
		t.Errorf("it goes by %+v, %d", q, v)
	}
	bring(b, house1(80, 2), ledger.Replace, 2, ledger.Replaced)

	// Budgets that are there have their new limits, for who has not heard of it too;
	// those that are not are not made by the old ones.
	if g, err := a.Reserve(ctx, askOf(a, "a2", "acme", 11)); err != nil || g.OK() || g.Budget != "q/tenant/acme/tokens/hour" {
		t.Errorf("%+v, %v: 70 of 80 are used", g, err)
	}
	if g, err := a.Reserve(ctx, askOf(a, "a3", "new", 90)); !errors.Is(err, ledger.ErrTerms) {
		t.Errorf("%+v, %v: a tenant got a budget by quotas that do not count any more", g, err)
	}
	if _, v := a.Quotas(); v != 2 {
		t.Errorf("it goes by version %d, want 2", v)
	}
	if g, err := a.Reserve(ctx, askOf(a, "a3", "new", 90)); err != nil || !g.Never() {
		t.Errorf("%+v, %v: a new tenant has 80", g, err)
	}
	must(t, a, askOf(a, "a4", "new", 80))
	if g, err := a.Reserve(ctx, askOf(a, "a5", "third", 1)); err != nil || g.OK() || g.Budget != "q/concurrent" {
		t.Errorf("%+v, %v: both slots are taken", g, err)
	}

	// What is removed and comes again has what was used.
	bring(a, nil, ledger.Replace, 3, ledger.Replaced)
	bring(a, house1(100, 5), ledger.Replace, 4, ledger.Replaced)
	if g, err := a.Reserve(ctx, askOf(a, "a6", "acme", 31)); err != nil || g.OK() {
		t.Errorf("%+v, %v: 70 of 100 are used", g, err)
	}
	must(t, a, askOf(a, "a7", "acme", 30))
}

// Many processes bring quotas at once, while calls of new tenants are reserved: one
// version after the other, and every budget has the limit of the last.
func replacedUnderLoad(t *testing.T, fresh func(testing.TB) Place) {
	h := newHouse(t, fresh(t))
	const processes, rounds = 3, 4
	var all [processes]*ledger.Ledger
	for i := range all {
		all[i], _ = h.process(t, fmt.Sprint(i))
	}
	if _, _, err := all[0].Configure(ctx, house1(1000, 1000), ledger.Refuse); err != nil {
		t.Fatal(err)
	}
	for _, l := range all[1:] {
		if _, _, err := l.Configure(ctx, nil, ledger.Adopt); err != nil {
			t.Fatal(err)
		}
	}
	var hands sync.WaitGroup
	for i, l := range all {
		hands.Go(func() {
			for n := range rounds {
				if _, _, err := l.Configure(ctx, house1(int64(1001+10*i+n), 1000), ledger.Replace); err != nil {
					t.Error(err)
				}
			}
		})
		hands.Go(func() {
			for n := range 5 * rounds {
				g, err := l.Reserve(ctx, askOf(l, fmt.Sprint(i, "-", n), fmt.Sprint("tenant", i, "-", n), 1))
				if err != nil && !errors.Is(err, ledger.ErrTerms) || err == nil && !g.OK() {
					t.Error(g, err)
				}
			}
		})
	}
	hands.Wait()
	is, _, err := all[0].Configure(ctx, nil, ledger.Adopt)
	if err != nil || is.Version != 1+processes*rounds {
		t.Errorf("version %d, %v; want %d", is.Version, err, 1+processes*rounds)
	}
	quotas, _ := all[0].Quotas()
	err = h.View(ctx, func(r ledger.Rows) error {
		return r.Budgets(func(name string, b quota.Budget) error {
			if want, _ := quota.Limited(quotas, name); b.Limit != want {
				t.Errorf("%s has %+v, want %+v", name, b.Limit, want)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
