package pool

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

const ms = time.Millisecond

// house is a pool with whom it holds, by name.
type house struct {
	*Pool
	seq uint64
}

func (h *house) arrive(tenant string, importance uint8, bytes int64, at time.Duration) *Item {
	h.seq++
	t := h.Get(tenant)
	it := &Item{Ticket: h.seq, Seq: h.seq, Tenant: t, Importance: importance, Bytes: bytes, Cost: 1, Offered: unit.Instant(at)}
	t.Tally.Offered++
	t.Tally.Waiting++
	h.Enter(it)
	h.Settle(t)
	return it
}

func (h *house) serve(at time.Duration) uint64 {
	it := h.Next(unit.Instant(at))
	if it == nil {
		return 0
	}
	h.Take(it)
	h.gone(it)
	return it.Ticket
}

func (h *house) gone(it *Item) {
	it.Tenant.Tally.Waiting--
	it.Tenant.Tally.Answered[reason.Served]++
	h.Settle(it.Tenant)
}

func TestBoundFollowsTheHoldingTime(t *testing.T) {
	p := New(Config{Slots: 40, Latency: 300 * ms, Service: 100 * ms, MemoryLimit: 64 << 20, PerRequest: 64 << 10})
	hold := func(n int, d time.Duration) {
		for range n {
			p.Ended(d, true)
		}
	}
	check := func(when string, bound int, from string) {
		t.Helper()
		if p.Bound() != bound || p.BoundFrom().String() != from {
			t.Errorf("%s: bound %d from %v, want %d from %s", when, p.Bound(), p.BoundFrom(), bound, from)
		}
	}
	check("as configured, 200 ms x 400/s", 80, "latency budget")
	hold(samplesMin-1, 50*ms)
	check("too few samples", 80, "latency budget")
	hold(1, 50*ms)
	check("twice as fast", 160, "latency budget")
	hold(2000, 400*ms)
	check("four times as slow", 20, "latency budget")
	hold(2000, time.Hour)
	check("next to nothing", 1, "minimum")
	hold(2000, ms)
	check("very fast, cut to memory", 1024, "memory")
}

func TestBoundWithoutABudgetInTimeIsOneOfMemory(t *testing.T) {
	p := New(Config{Slots: 4, MemoryLimit: 1000, PerRequest: 100})
	if p.Bound() != 10 || p.BoundFrom().String() != "memory" {
		t.Errorf("bound %d from %v", p.Bound(), p.BoundFrom())
	}
}

func TestPredictionCountsWhatMayBeBorrowed(t *testing.T) {
	h := &house{Pool: New(Config{Slots: 1, Borrow: 3, Latency: time.Second, Service: 100 * ms, Bound: 100})}
	for range 8 {
		h.arrive("", 0, 0, 0)
	}
	if got := h.PredictWait(h.Get(""), 0, 0); got != 200*ms {
		t.Errorf("8 ahead, 4 slots at best, 100 ms each: %v", got)
	}
	if h.Interval() != 100*ms {
		t.Errorf("guaranteed is one in 100 ms, not in %v", h.Interval())
	}
}

// After a slow hour of ten seconds a call, 31 fast calls are enough to know.
func TestASlowHourIsForgotten(t *testing.T) {
	p := New(Config{Slots: 4, Latency: time.Second})
	for range 5000 {
		p.Ended(10*time.Second, true)
	}
	if got := p.ServiceTime(); got < 9*time.Second {
		t.Errorf("in the slow hour: %v", got)
	}
	for range 31 {
		p.Ended(10*ms, true)
	}
	if got := p.ServiceTime(); got > 10*ms {
		t.Errorf("31 fast calls later: %v", got)
	}
	p.Ended(time.Microsecond, false) // a failure says nothing about serving
	if got := p.ServiceTime(); got < 9*ms {
		t.Errorf("after a failure: %v", got)
	}
}

func TestOrders(t *testing.T) {
	for _, c := range []struct {
		order Order
		at    time.Duration // when all are served; twice the allowed wait is 400 ms
		want  string
	}{
		{FIFO, 1000 * ms, "[1 2 3 4]"},
		{LIFO, 0, "[4 3 2 1]"},
		{Adaptive, 400 * ms, "[1 2 3 4]"},
		{Adaptive, 401 * ms, "[4 3 2 1]"},
		{Adaptive, 430 * ms, "[4 3 2 1]"},
	} {
		for _, policy := range []fair.Policy{fair.Fifo, fair.RR, fair.DRR, fair.Priority} {
			h := &house{Pool: New(Config{Slots: 1, Latency: 300 * ms, Service: 100 * ms, Bound: 10, Order: c.order, Levels: 3,
				Tenants: TenantConfig{Policy: policy}})}
			for i := range 4 {
				h.arrive("a", 1, 0, time.Duration(i)*ms/10)
			}
			got := []uint64{}
			for range 4 {
				got = append(got, h.serve(c.at))
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("%v, %v, after %v: %v, want %v", c.order, policy, c.at, got, c.want)
			}
		}
	}
}

// Whatever the order, the more important goes first, and a prediction counts
// only those.
func TestImportanceGoesBeforeOrder(t *testing.T) {
	for _, order := range []Order{FIFO, LIFO, Adaptive} {
		for _, policy := range []fair.Policy{fair.Fifo, fair.WRR} {
			h := &house{Pool: New(Config{Slots: 1, Latency: 300 * ms, Service: 100 * ms, Bound: 10, Order: order, Levels: 3,
				Tenants: TenantConfig{Policy: policy}})}
			for _, importance := range []uint8{2, 1, 0, 1} {
				h.arrive("a", importance, 0, 0)
			}
			ahead := map[Order]string{FIFO: "100ms 300ms 400ms", LIFO: "0s 100ms 300ms", Adaptive: "100ms 300ms 400ms"}[order]
			if got := fmt.Sprint(h.PredictWait(h.Get("a"), 0, 0), h.PredictWait(h.Get("a"), 1, 0), h.PredictWait(h.Get("a"), 2, 0)); got != ahead {
				t.Errorf("%v, %v: waits of %v are predicted, want %v", order, policy, got, ahead)
			}
			got := []uint64{}
			for range 4 {
				got = append(got, h.serve(0))
			}
			want := "[3 2 4 1]"
			if order == LIFO {
				want = "[3 4 2 1]"
			}
			if fmt.Sprint(got) != want {
				t.Errorf("%v, %v: served %v, want %v", order, policy, got, want)
			}
		}
	}
}

// It turns back as soon as the oldest is young enough.
func TestAdaptiveTurnsBack(t *testing.T) {
	h := &house{Pool: New(Config{Slots: 1, Latency: 300 * ms, Service: 100 * ms, Bound: 10})}
	old := h.arrive("", 0, 0, 0)
	h.arrive("", 0, 0, 150*ms)
	h.arrive("", 0, 0, 160*ms)
	if got := h.serve(450 * ms); got != 3 {
		t.Errorf("while the oldest has waited 450 ms, %d is served, want the newest", got)
	}
	h.Remove(old)
	h.gone(old)
	h.arrive("", 0, 0, 460*ms)
	if got := h.serve(470 * ms); got != 2 {
		t.Errorf("when the oldest has waited 320 ms, %d is served, want the oldest", got)
	}
}

func TestFull(t *testing.T) {
	for _, c := range []struct {
		name   string
		cfg    Config
		tenant string
		bytes  int64
		want   reason.Reason
	}{
		{"room for one more", Config{Bound: 4}, "a", 0, reason.None},
		{"the room is full", Config{Bound: 3}, "a", 0, reason.QueueFull},
		{"its own bound first", Config{Bound: 3, Tenants: TenantConfig{Queue: 2}}, "a", 0, reason.TenantFull},
		{"another's bound is another's affair", Config{Bound: 4, Tenants: TenantConfig{Queue: 2}}, "b", 0, reason.None},
		{"both bounds hold", Config{Bound: 3, Tenants: TenantConfig{Queue: 2}}, "b", 0, reason.QueueFull},
		{"just fits", Config{Bound: 9, MemoryLimit: 400}, "a", 100, reason.None},
		{"a byte too many", Config{Bound: 9, MemoryLimit: 400}, "a", 101, reason.QueueBytes},
	} {
		c.cfg.Slots = 1
		h := &house{Pool: New(c.cfg)}
		for _, tenant := range []string{"a", "a", "b"} {
			h.arrive(tenant, 0, 100, 0)
		}
		if got := h.Full(h.Get(c.tenant), c.bytes); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSlots(t *testing.T) {
	s := NewSlots(2, 1)
	var took []bool
	for _, take := range []func() bool{s.TryTake, s.TryTake, s.TryTake, s.TryBorrow, s.TryBorrow} {
		took = append(took, take())
	}
	if want := "[true true false true false]"; fmt.Sprint(took) != want {
		t.Errorf("two of its own and one borrowed: took %v, want %v", took, want)
	}
	s.Resize(1, -4)
	if s.Used() != 3 || s.Most() != 1 || s.TryTake() || s.TryBorrow() {
		t.Errorf("a lowered figure takes nothing away and gives nothing out: %+v", s)
	}
	for range 3 {
		s.Give()
	}
	defer func() {
		if recover() == nil {
			t.Error("giving what nobody holds passes unnoticed")
		}
	}()
	s.Give()
}

// A million tenants that come once and go: memory follows those who are here.
func TestMemoryFollowsActiveTenants(t *testing.T) {
	h := &house{Pool: New(Config{Slots: 1, Bound: 10, Tenants: TenantConfig{Policy: fair.WRR, Keep: 100}})}
	held := h.arrive("regular", 0, 0, 0)
	once := func(from, to int) {
		for i := from; i < to; i++ {
			it := h.arrive(fmt.Sprintf("tenant-%d", i), 0, 0, 0)
			h.Remove(it)
			h.gone(it)
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	once(0, 10_000)
	before := heap()
	once(10_000, 1_000_000)
	if after := heap(); after > before+1<<20 {
		t.Errorf("the heap grew from %d to %d", before, after)
	}
	if h.Len() != 100+2 || h.Find("regular") != held.Tenant {
		t.Errorf("%d tenants are remembered, the one that waits among them: %v", h.Len(), h.Find("regular"))
	}
	sum := h.Forgotten
	h.Each(func(t *Tenant) { sum.Add(&t.Tally) })
	if sum.Offered != 1_000_001 || sum.Check() != nil {
		t.Errorf("all together: %+v, %v", sum, sum.Check())
	}
	if err := h.Check(); err != nil {
		t.Error(err)
	}
}

// The longest idle is forgotten, and never one that an event is about, which is
// who was looked up last, whoever else's accounts are settled in it.
func TestWhoIsForgotten(t *testing.T) {
	h := &house{Pool: New(Config{Slots: 1, Bound: 10, Tenants: TenantConfig{Keep: 2}})}
	leave := func(it *Item) { h.Remove(it); h.gone(it) }
	visit := func(name string) { leave(h.arrive(name, 0, 0, 0)) }
	remembered := func() string {
		var names []string
		h.Each(func(t *Tenant) { names = append(names, t.Name) })
		slices.Sort(names)
		return strings.Join(names, "")
	}
	visit("a")
	visit("b")
	c, d := h.arrive("c", 0, 0, 0), h.arrive("d", 0, 0, 0)
	a := h.Get("a") // an event about a begins, in which the others' end
	leave(c)
	leave(d)
	h.Settle(a)
	if got := remembered(); got != "ad" {
		t.Errorf("remembered: %s", got)
	}
	visit("e")
	if got := remembered(); got != "ae" {
		t.Errorf("remembered: %s", got)
	}
	if err := h.Check(); err != nil {
		t.Error(err)
	}
}

func TestANameDoesNotKeepTheHeaderItWasCutFrom(t *testing.T) {
	p := New(Config{Slots: 1})
	url := strings.Repeat("x", 1<<20) + "acme"
	tenant := p.Get(url[1<<20:])
	if tenant.Name != "acme" || p.Find("acme") != tenant {
		t.Errorf("%q", tenant.Name)
	}
}

// A new policy, other levels, another rule: those who wait are lined up anew
// at once, in the order in which they came.
func TestReconfigureWhileSomeWait(t *testing.T) {
	cfg := Config{Slots: 1, Bound: 10, Order: FIFO, Tenants: TenantConfig{Policy: fair.Fifo}}
	h := &house{Pool: New(cfg)}
	for _, tenant := range []string{"a", "a", "a", "b", "c", "c"} {
		h.arrive(tenant, 0, 10, 0)
	}
	blocked := &Item{Ticket: 100, Tenant: h.Get("d"), Importance: 0}
	h.Hold(blocked)
	for _, next := range []Config{
		{WhenFull: Displace, Levels: 3, Tenants: TenantConfig{Policy: fair.DRR}},
		{WhenFull: DropOldest, Levels: 2, Tenants: TenantConfig{Policy: fair.Priority, Ranks: map[string]int{"c": 0}}},
		{WhenFull: Displace, Levels: 1, Tenants: TenantConfig{Policy: fair.WRR, Weights: map[string]int{"a": 2}}},
	} {
		next.Slots, next.Bound, next.Order = 1, 10, FIFO
		h.Reconfigure(next)
		if err := h.Check(); err != nil {
			t.Fatal(err)
		}
	}
	got := []uint64{}
	for range 6 {
		got = append(got, h.serve(0))
	}
	if fmt.Sprint(got) != "[1 2 4 5 3 6]" { // a a b c a c
		t.Errorf("served %v", got)
	}
	if it := h.Admit(); it != blocked || h.Waiting() != 1 {
		t.Errorf("admitted %v, %d wait", it, h.Waiting())
	}
}

func TestNamesAreThoseOfTheConfiguration(t *testing.T) {
	got := fmt.Sprint(Adaptive, FIFO, LIFO, Reject, Drop, DropOldest, Displace, Block, Free, Blocked, Waiting, Running, Abandoned)
	if want := "adaptive fifo lifo reject drop drop_oldest displace block free blocked waiting running abandoned"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
