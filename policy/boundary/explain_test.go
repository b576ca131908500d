package boundary

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// What an explanation says would have let a request through does: two machines
// have lived through the same, one has the figure put in force, and the request
// that the other refused is offered to it. It is not refused for that reason.
// Each figure alone, and nothing that is not said is changed.
func TestWhatWouldHaveLetItThroughDoes(t *testing.T) {
	letThrough(t, false, "queue_full slots", "queue_full bound", "queue_full first try", "queue_bytes memory", "queue_bytes slots", "tenant_full queue",
		"tenant_full slots", "infeasible deadline", "infeasible slots", "expired deadline")
}

// Where slots are found by measurement it is the floor that an operator may set.
func TestWhatFloorWouldHaveLetItThroughDoes(t *testing.T) {
	letThrough(t, true, "queue_full floor", "queue_full bound")
}

func letThrough(t *testing.T, adapts bool, wants ...string) {
	t.Helper()
	seen := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		cfg, events := drawLife(rt, adapts)
		m, out := must(New(cfg)), Effects{}
		for n, e := range events {
			v := e.happen(m, &out)
			if e.offer == nil || v.Kind != Refuse {
				continue
			}
			var x Case
			m.Explain(e.at, e.offer, v, &x)
			if x.Reason != v.Reason || x.RetryAfter != v.RetryAfter || x.Class != e.offer.Class || x.At < e.at {
				rt.Fatalf("%v is explained as %+v", v, x)
			}
			for _, c := range figures(&x) {
				twinCfg := cfg
				twinCfg.Classes = slices.Clone(cfg.Classes)
				r := *e.offer
				c.change(&twinCfg.Classes[x.Class], &r)
				twin := relive(rt, cfg, events[:n])
				if c.kind == "deadline" { // a cap that is in force already; nothing is derived again
					twin.m.classes[x.Class].DeadlineMax = twinCfg.Classes[x.Class].DeadlineMax
				} else {
					twin.happen(e.at, twinCfg)
				}
				got := twin.m.Offer(e.at, &r, &twin.out)
				if got.Kind == Refuse && got.Reason == x.Reason && (x.Reason != reason.Dropped || twin.room(e.at, &r, got) == x.Room) {
					rt.Fatalf("refused for %v; with %s it is %v\ncase %+v\nstate %+v\nclass %+v", x.Reason, c.name, got, x, m.Class(x.Class), cfg.Classes[x.Class])
				}
				seen[fmt.Sprint(x.Reason, " ", c.kind)]++
			}
		}
	})
	for _, want := range wants {
		if seen[want] == 0 {
			t.Errorf("nothing was refused for which it says: %s", want)
		}
	}
}

// figure is one thing that would have let a request through.
type figure struct {
	kind, name string
	change     func(*Class, *Request)
}

func figures(x *Case) (all []figure) {
	in := x.Instead
	add := func(said bool, kind string, value any, change func(*Class, *Request)) {
		if said {
			all = append(all, figure{kind, fmt.Sprint(kind, " ", value), change})
		}
	}
	add(in.Slots > 0 && x.Reason != reason.ShedForLoad, "slots", in.Slots, func(c *Class, _ *Request) { c.Pool.Slots = in.Slots })
	add(in.Floor > 0 && x.Reason != reason.ShedForLoad, "floor", in.Floor, func(c *Class, _ *Request) { c.Floor = in.Floor })
	add(in.Bound > 0, "bound", in.Bound, func(c *Class, _ *Request) { c.Pool.Bound = in.Bound })
	add(in.MemoryLimit > 0, "memory", in.MemoryLimit, func(c *Class, _ *Request) { c.Pool.MemoryLimit = in.MemoryLimit })
	add(in.TenantQueue > 0, "queue", in.TenantQueue, func(c *Class, _ *Request) { c.Pool.Tenants.Queue = in.TenantQueue })
	add(in.Gap > 0, "gap", in.Gap, func(_ *Class, r *Request) { r.Gap = in.Gap })
	add(in.FirstTry, "first try", "", func(_ *Class, r *Request) { r.Retry = false })
	add(in.Deadline > 0, "deadline", in.Deadline, func(c *Class, r *Request) {
		c.DeadlineMax = max(c.DeadlineMax, in.Deadline)
		r.Deadline = x.At.Add(in.Deadline)
	})
	return all
}

// life is one event of a machine's.
type life struct {
	at     unit.Instant
	offer  *Request
	end    int // of which running one there is, in the order of tickets
	served bool
}

func (e *life) happen(m *Machine, out *Effects) (v Verdict) {
	defer out.Reset()
	if e.offer != nil {
		return m.Offer(e.at, e.offer, out)
	}
	m.Advance(e.at, out)
	var running []Ticket
	for _, it := range m.items {
		if it.State == pool.Running || it.State == pool.Abandoned {
			running = append(running, Ticket(it.Ticket))
		}
	}
	if len(running) > 0 {
		why := reason.Failed
		if e.served {
			why = reason.Served
		}
		m.Done(e.at, running[e.end%len(running)], Outcome{Reason: why}, out)
	}
	return Verdict{Decision: Decision{Kind: Run}}
}

type twin struct {
	m   *Machine
	out Effects
}

// relive returns a machine that has lived through the same.
func relive(t *rapid.T, cfg Config, events []life) *twin {
	w := &twin{m: must(New(cfg))}
	for _, e := range events {
		e.happen(w.m, &w.out)
	}
	return w
}

// room returns why the room had no place for what was refused.
func (w *twin) room(now unit.Instant, r *Request, v Verdict) reason.Reason {
	var x Case
	w.m.Explain(now, r, v, &x)
	return x.Room
}

// happen puts another configuration in force.
func (w *twin) happen(now unit.Instant, cfg Config) {
	if err := w.m.Reconfigure(now, cfg, &w.out); err != nil {
		panic(err)
	}
	w.out.Reset()
}

func drawLife(t *rapid.T, adapts bool) (Config, []life) {
	millis := func(low, high int, name string) time.Duration {
		return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
	}
	cfg := Config{Name: "app", Seed: 1, Strict: true}
	for _, name := range []string{"x", "y"}[:rapid.IntRange(1, 2).Draw(t, "classes")] {
		cfg.Classes = append(cfg.Classes, Class{
			Name: name, Deadline: millis(20, 60, "deadline"), DeadlineMax: millis(60, 90, "most"),
			AdmitHopeless: rapid.IntRange(0, 3).Draw(t, "admit hopeless") == 0,
			Pool: pool.Config{
				Slots: rapid.IntRange(1, 4).Draw(t, "slots"), Borrow: rapid.IntRange(0, 2).Draw(t, "borrow"),
				Latency: millis(10, 60, "latency"), Service: millis(0, 10, "service"), Bound: rapid.IntRange(0, 6).Draw(t, "bound"),
				MemoryLimit: int64(rapid.IntRange(0, 40).Draw(t, "memory")), PerRequest: int64(rapid.IntRange(0, 9).Draw(t, "per request")),
				Order: pool.Order(rapid.IntRange(0, 2).Draw(t, "order")), WhenFull: pool.WhenFull(rapid.IntRange(0, 4).Draw(t, "when full")),
				BlockFor: millis(1, 8, "block for"), Levels: 2, RetriesLast: rapid.Bool().Draw(t, "retries last"),
				Tenants: pool.TenantConfig{Policy: fair.Policy(rapid.IntRange(0, 4).Draw(t, "policy")), Queue: rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "queue")},
			},
		})
		if rapid.Bool().Draw(t, "sheds") {
			cfg.Classes[len(cfg.Classes)-1].Shed = &shed.Rule{Span: millis(5, 50, "span")}
		}
	}
	if adapts {
		cfg.Limit = limit.Config{Law: limit.Knee, Start: rapid.IntRange(1, 6).Draw(t, "start")}
		for i := range cfg.Classes {
			cfg.Classes[i].Floor = rapid.IntRange(0, cfg.Classes[i].Pool.Slots).Draw(t, "floor")
		}
	}
	var events []life
	at := unit.Instant(0)
	for range rapid.IntRange(1, 120).Draw(t, "events") {
		at = at.Add(millis(0, 3, "gap"))
		e := life{at: at, end: rapid.IntRange(0, 9).Draw(t, "which"), served: rapid.IntRange(0, 4).Draw(t, "served") > 0}
		if rapid.IntRange(0, 2).Draw(t, "offer") > 0 {
			r := &Request{
				Class:  rapid.IntRange(0, len(cfg.Classes)-1).Draw(t, "class"),
				Tenant: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "tenant"), Importance: rapid.IntRange(0, 1).Draw(t, "importance"),
				Retry: rapid.Bool().Draw(t, "retry"), Bytes: int64(rapid.IntRange(0, 50).Draw(t, "bytes")) / 3,
			}
			r.Gap, r.Kept = shed.Gap(rapid.IntRange(0, int(shed.Useless)).Draw(t, "gap between answers")), rapid.IntRange(0, 4).Draw(t, "kept") == 0
			r.Session, r.Stretch = rapid.Uint64Range(0, 4).Draw(t, "session"), rapid.Uint64Range(0, 2).Draw(t, "stretch")
			if rapid.Bool().Draw(t, "names a deadline") {
				r.Deadline = at.Add(millis(-1, 40, "left"))
			}
			e.offer = r
		}
		events = append(events, e)
	}
	return cfg, events
}

// A tenant that fills its part of the room is told what room it would have taken,
// and what weight of its own in the long run.
func TestATenantThatFillsItsPart(t *testing.T) {
	cfg := Config{Strict: true, Classes: []Class{{Name: "app", Deadline: time.Hour, DeadlineMax: time.Hour, Pool: pool.Config{
		Slots: 1, Bound: 9, Tenants: pool.TenantConfig{Policy: fair.WRR},
	}}}}
	m, out := must(New(cfg)), Effects{}
	now := unit.Instant(0)
	running := m.Offer(now, &Request{Tenant: "b"}, &out).Ticket
	for range 1000 { // both always wait, and get every other turn
		for _, tenant := range []string{"a", "b"} {
			m.Offer(now, &Request{Tenant: tenant}, &out)
		}
		now = now.Add(time.Millisecond)
		out.Reset()
		m.Done(now, running, Outcome{Reason: reason.Served}, &out)
		running = out.List[len(out.List)-1].Ticket
	}
	r := &Request{Tenant: "a"}
	v := m.Offer(now, r, &out)
	for v.Kind == Wait {
		v = m.Offer(now, r, &out)
	}
	var x Case
	m.Explain(now, r, v, &x)
	if x.Reason != reason.TenantFull || x.TenantMost != x.TenantWaiting || x.Instead.Bound <= x.Bound || x.Instead.Weight < 2 || x.Instead.TenantQueue != x.TenantWaiting+1 {
		t.Fatalf("%+v", x)
	}
	cfg.Classes[0].Pool.Bound = x.Instead.Bound
	if err := m.Reconfigure(now, cfg, &out); err != nil {
		t.Fatal(err)
	}
	if v := m.Offer(now, r, &out); v.Kind == Refuse {
		t.Errorf("with bound %d it is %v", x.Instead.Bound, v)
	}
}

// Who is displaced, waits in vain, or runs too long has a case too, with the
// state as it was before anything was done about it; and nobody has unless it is
// asked for.
func TestCasesOfThoseWhoWaitedOrRan(t *testing.T) {
	ms := func(n int64) unit.Instant { return unit.Instant(n * int64(time.Millisecond)) }
	m := must(New(Config{Strict: true, Classes: []Class{{Name: "app", Deadline: 100 * time.Millisecond, Pool: pool.Config{
		Slots: 1, Bound: 2, WhenFull: pool.Displace, Levels: 2,
	}}}}))
	out := Effects{Watched: true}
	case1 := func() Case {
		t.Helper()
		if len(out.Cases) != 1 {
			t.Fatalf("%d cases: %+v", len(out.Cases), out.Cases)
		}
		x := out.Cases[0]
		out.Reset()
		return x
	}
	runs := m.Offer(ms(0), &Request{Tenant: "a"}, &out)
	m.Offer(ms(1), &Request{Tenant: "b", Importance: 1}, &out)
	m.Offer(ms(2), &Request{Tenant: "b", Importance: 1, Deadline: ms(50)}, &out)
	m.Offer(ms(10), &Request{Tenant: "c"}, &out)
	x := case1()
	if x.Reason != reason.Evicted || x.Stage != InRoom || x.Tenant != "b" || x.Waiting != 2 || x.Bound != 2 || x.Waited != 8*time.Millisecond ||
		x.Importance != 1 || x.Instead.Bound != 3 || x.Instead.Slots != 2 {
		t.Errorf("displaced: %+v", x)
	}
	m.Offer(ms(20), &Request{Tenant: "c", Deadline: ms(60)}, &out) // displaces the other of b
	case1()
	m.Advance(ms(60), &out)
	if x = case1(); x.Reason != reason.Expired || x.Left != 0 || x.Waited != 40*time.Millisecond || x.Instead.Deadline <= x.Waited {
		t.Errorf("expired: %+v", x)
	}
	m.Advance(ms(100), &out)
	if x = case1(); x.Reason != reason.Timeout || x.Stage != Running || x.Ticket != runs.Ticket || x.Held != 100*time.Millisecond || x.Used != 1 {
		t.Errorf("overdue: %+v", x)
	}
	out.Watched = false
	m.Advance(ms(1000), &out)
	if len(out.Cases) != 0 {
		t.Errorf("nobody asked, and there are %+v", out.Cases)
	}
}

// A case costs no memory.
func TestACaseAllocatesNothing(t *testing.T) {
	m := must(New(Config{Classes: []Class{{Name: "app", Pool: pool.Config{Slots: 1, Bound: 1, Tenants: pool.TenantConfig{Policy: fair.WRR}}}}}))
	var out Effects
	r := &Request{Tenant: "a", Deadline: unit.Never - 1}
	for range 3 {
		m.Offer(0, r, &out)
	}
	v := m.Offer(0, r, &out)
	var x Case
	if n := testing.AllocsPerRun(100, func() { m.Explain(0, r, v, &x) }); n != 0 || x.Reason != reason.QueueFull {
		t.Errorf("%v allocations for %v", n, x.Reason)
	}
}

func BenchmarkExplain(b *testing.B) {
	m := must(New(Config{Classes: []Class{{Name: "app", Pool: pool.Config{Slots: 1, Bound: 1, Tenants: pool.TenantConfig{Policy: fair.WRR}}}}}))
	var out Effects
	r := &Request{Tenant: "a"}
	for range 3 {
		m.Offer(0, r, &out)
	}
	v := m.Offer(0, r, &out)
	var x Case
	b.ReportAllocs()
	for b.Loop() {
		m.Explain(0, r, v, &x)
	}
}
