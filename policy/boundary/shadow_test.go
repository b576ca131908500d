package boundary

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/agenda"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// A shadow decides what would have been decided: the same requests, with the
// same service times, are offered to a machine in mode enforce and to one whose
// decisions are carried out for some or for none. Whenever something arrives,
// the first machine is in the state in which the second says it would be.
func TestAShadowDecidesWhatWouldHaveBeenDecided(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg, requests := drawTraffic(rt)
		earnest := newWorld(cfg)
		shadowed := cfg
		shadowed.Classes = append([]Class(nil), cfg.Classes...)
		for i := range shadowed.Classes {
			shadowed.Classes[i].Mode = Mode{Kind: ModeKind(rapid.IntRange(1, 2).Draw(rt, "mode")), Share: rapid.IntRange(0, chance.Whole).Draw(rt, "share")}
		}
		real := newWorld(shadowed)
		for _, r := range requests {
			said, would := earnest.offer(r), real.offer(r)
			if said.Decision != would.Decision || said.RetryAfter != would.RetryAfter {
				rt.Fatalf("%+v: enforce says %v, the shadow %v", r, said, would)
			}
			compareWorlds(rt, earnest, real)
		}
		earnest.play(unit.Never - 1)
		real.play(unit.Never - 1)
		compareWorlds(rt, earnest, real)
		if n := real.Undecided(); n != 0 {
			rt.Errorf("%d twins are left when all has ended", n)
		}
	})
}

func compareWorlds(t *rapid.T, earnest, real *world) {
	for i := range earnest.Classes() {
		a, b := earnest.Class(i), real.Class(i)
		if b.Shadow == nil { // all were of the share
			b.Shadow = &ShadowState{b.Tally, b.Used, b.Waiting, b.Blocked, b.WaitingBytes, b.OldestWait}
		}
		if is := (ShadowState{a.Tally, a.Used, a.Waiting, a.Blocked, a.WaitingBytes, a.OldestWait}); is != *b.Shadow {
			t.Fatalf("at %v class %s is\n%+v; its shadow says\n%+v", earnest.now, a.Name, is, *b.Shadow)
		}
		if a.Bound != b.Bound || a.Holding != b.Holding || a.ServiceTime != b.ServiceTime {
			t.Fatalf("at %v class %s measured\n%+v, its shadow\n%+v", earnest.now, a.Name, a, b)
		}
		mine, _ := earnest.Tenants(i)
		theirs, _ := real.Tenants(i)
		for k := range mine {
			if s := theirs[k].Shadow; s != nil && *s != mine[k].Tally || s == nil && !reflect.DeepEqual(mine[k], theirs[k]) {
				t.Fatalf("at %v tenant %+v is by the shadow %+v", earnest.now, mine[k], theirs[k])
			}
		}
	}
}

// traffic is one request and what its service and its caller are like.
type traffic struct {
	Request
	at                     unit.Instant
	allowed                time.Duration // 0: names no deadline
	takes, first, patience time.Duration // first, patience: 0 is never
	lingers                time.Duration // from when its caller reads slowly; 0 is never
	fails                  bool
}

// drawTraffic draws a crowded little world in which no two events share an
// instant, as test/script does. A caller is impatient only with work that takes
// longer than it waits: one that was answered in time by the real service does
// not hang up on it, whatever it would have done while waiting.
func drawTraffic(t *rapid.T) (Config, []traffic) {
	millis := func(low, high int, name string) time.Duration {
		return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
	}
	cfg := Config{Name: "app", Seed: rapid.Uint64().Draw(t, "seed"), Strict: true}
	for _, name := range []string{"x", "y"} {
		c := Class{
			Name: name, Deadline: millis(5, 40, "deadline"), HoldAtMost: millis(3, 20, "hold at most"),
			AdmitHopeless: rapid.Bool().Draw(t, "admit hopeless"),
			Call:          Call{Cancel: rapid.Bool().Draw(t, "cancel")},
			Streams:       Streams{Most: rapid.IntRange(0, 2).Draw(t, "streams"), After: millis(0, 3, "after")},
			Pool: pool.Config{
				Slots: rapid.IntRange(1, 3).Draw(t, "slots"), Borrow: rapid.IntRange(0, 1).Draw(t, "borrow"),
				Latency: millis(10, 40, "latency"), Service: millis(1, 10, "service"), Bound: rapid.IntRange(0, 4).Draw(t, "bound"),
				MemoryLimit: 10, Order: pool.Order(rapid.IntRange(0, 2).Draw(t, "order")),
				WhenFull: pool.WhenFull(rapid.IntRange(0, 4).Draw(t, "when full")), BlockFor: millis(1, 8, "block for"), Levels: 3,
				Tenants: pool.TenantConfig{Policy: fair.Policy(rapid.IntRange(0, 4).Draw(t, "policy")), Queue: rapid.IntRange(0, 3).Draw(t, "queue"),
					Timed: rapid.Bool().Draw(t, "timed")},
			},
		}
		if rapid.Bool().Draw(t, "sheds") {
			c.Shed = &shed.Rule{Span: millis(5, 50, "span")}
		}
		if rapid.Bool().Draw(t, "times out") {
			c.Call.Timeout = millis(2, 15, "timeout") + 300*time.Nanosecond
		}
		cfg.Classes = append(cfg.Classes, c)
	}
	var all []traffic
	at := unit.Instant(0)
	for k := range time.Duration(rapid.IntRange(1, 60).Draw(t, "requests")) {
		at = at.Add(millis(0, 4, "gap"))
		r := traffic{at: at.Add(k), takes: millis(1, 12, "takes") + (k+1)*time.Microsecond, fails: rapid.IntRange(0, 5).Draw(t, "fails") == 0}
		r.Class = rapid.IntRange(0, 1).Draw(t, "class")
		r.Tenant = rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "tenant")
		r.Session, r.Stretch = rapid.Uint64Range(0, 5).Draw(t, "session"), rapid.Uint64Range(0, 2).Draw(t, "stretch")
		r.Gap = shed.Gap(rapid.IntRange(0, int(shed.Useless)).Draw(t, "gap between answers"))
		r.Importance, r.Bytes = rapid.IntRange(0, 2).Draw(t, "importance"), int64(rapid.IntRange(0, 5).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "names a deadline") {
			r.allowed = millis(1, 30, "deadline")
		}
		if rapid.Bool().Draw(t, "streams") {
			r.first = r.takes/2 + 11*time.Nanosecond
			if rapid.Bool().Draw(t, "reads slowly") {
				r.lingers = r.first + r.takes/4 + 13*time.Nanosecond
			}
		} else if rapid.Bool().Draw(t, "is impatient") {
			r.patience = r.takes - 500*time.Nanosecond - 300*time.Microsecond
		}
		all = append(all, r)
	}
	return cfg, all
}

// world is a machine with a driver: what is granted runs for as long as it
// takes, what is late is answered, who is impatient leaves.
type world struct {
	*Machine
	calls map[Ticket]*calling
	soon  agenda.Agenda[happens]
	out   Effects
}

type calling struct {
	traffic
	cfg      Class
	ticket   Ticket
	running  bool // the work goes on
	answered bool // or its caller left
	flowing  bool
}

// happens is what happens to a request at an instant.
type happens struct {
	what string
	to   *calling
}

func newWorld(cfg Config) *world {
	return &world{Machine: must(New(cfg)), calls: map[Ticket]*calling{}}
}

func (w *world) at(at unit.Instant, what string, c *calling) {
	w.soon.Set(&agenda.Entry[happens]{Item: happens{what, c}}, at)
}

// offer plays what happens before the request arrives, offers it, and returns
// what the policy said.
func (w *world) offer(r traffic) Verdict {
	w.play(r.at)
	w.out.Reset()
	w.Advance(r.at, &w.out)
	w.carryOut(r.at)
	q := r.Request
	if r.allowed > 0 {
		q.Deadline = r.at.Add(r.allowed)
	}
	v := w.Offer(r.at, &q, &w.out)
	if v.Kind != Refuse {
		c := &calling{traffic: r, ticket: v.Ticket, cfg: w.classes[r.Class].Class}
		w.calls[v.Ticket] = c
		if v.Kind == Run {
			w.start(r.at, c, v.Deadline == unit.Never)
		}
		if r.patience > 0 {
			w.at(r.at.Add(r.patience), "leaves", c)
		}
	}
	w.carryOut(r.at)
	if would, ok := w.Would(v.Ticket); ok {
		return would
	}
	return v
}

// start runs the work of a call. One that nothing governs is not timed out
// either.
func (w *world) start(now unit.Instant, c *calling, ungoverned bool) {
	c.running = true
	if c.first > 0 {
		w.at(now.Add(c.first), "begins", c)
	}
	if c.lingers > 0 {
		w.at(now.Add(c.lingers), "lingers", c)
	}
	w.at(now.Add(c.takes), "ends", c)
	if c.cfg.Call.Timeout > 0 && !ungoverned {
		w.at(now.Add(c.cfg.Call.Timeout), "times out", c)
	}
}

// play plays what happens before an instant.
func (w *world) play(before unit.Instant) {
	for {
		next := min(w.soon.Next(), w.Next())
		if next >= before {
			return
		}
		w.out.Reset()
		w.Advance(next, &w.out)
		w.carryOut(next)
		for e := w.soon.Pop(next); e != nil; e = w.soon.Pop(next) {
			w.happen(next, e.Item.what, e.Item.to)
			w.carryOut(next)
		}
		if err := w.Check(); err != nil {
			panic(err)
		}
	}
}

func (w *world) happen(now unit.Instant, what string, c *calling) {
	switch {
	case what == "ends" && c.running:
		o := Outcome{Reason: reason.Served, Cost: 3}
		if c.fails {
			o.Reason = reason.Failed
		}
		w.end(now, c, o)
	case what == "begins" && c.running && !c.answered:
		c.flowing = true
		w.Answered(now, c.ticket, &w.out)
	case what == "lingers" && c.running && c.flowing:
		w.Linger(now, c.ticket, &w.out)
	case what == "leaves" && !c.answered:
		w.lose(now, c, reason.CallerGone)
	case what == "times out" && c.running && !c.answered && !c.flowing:
		w.lose(now, c, reason.Timeout)
	}
}

func (w *world) end(now unit.Instant, c *calling, o Outcome) {
	c.running, c.answered = false, true
	w.Done(now, c.ticket, o, &w.out)
}

// lose has a caller leave, or be answered before the work has ended.
func (w *world) lose(now unit.Instant, c *calling, why reason.Reason) {
	c.answered = true
	switch {
	case !c.running:
		w.Leave(now, c.ticket, &w.out)
	case c.cfg.Call.Cancel:
		w.end(now, c, Outcome{Reason: why})
	default:
		w.Abandon(now, c.ticket, why, &w.out)
	}
}

func (w *world) carryOut(now unit.Instant) {
	list := append([]Effect(nil), w.out.List...)
	w.out.Reset()
	for _, f := range list {
		c := w.calls[f.Ticket]
		switch f.Kind {
		case Run:
			w.start(now, c, false)
		case Refuse:
			c.answered = true
		case Overdue:
			if c.answered = true; c.cfg.Call.Cancel {
				w.end(now, c, Outcome{Reason: reason.Timeout})
			}
		case Released:
			c.running = false
		}
	}
	if len(w.out.List) > 0 {
		w.carryOut(now)
	}
}

// A session is of the share or it is not, whatever arrives meanwhile, and who
// is in at 10 % is in at 20 %.
func TestSharesOfSessionsAreStableAndNested(t *testing.T) {
	in := func(percent int, r Request) bool {
		m := must(New(Config{Seed: 7, Classes: []Class{{Name: "x", Mode: Mode{Kind: Part, Share: percent * chance.Whole / 100}, Pool: pool.Config{Slots: 1}}}}))
		return m.classes[0].decides(m.seed, &r)
	}
	count := map[int]int{}
	for i := range 2000 {
		r := Request{Session: chance.Key(fmt.Sprint("session ", i)), Tenant: "acme"}
		if i%2 == 0 {
			r = Request{Tenant: fmt.Sprint("tenant ", i)}
		}
		was := false
		for _, percent := range []int{0, 10, 20, 50, 100} {
			is := in(percent, r)
			if was && !is {
				t.Fatalf("%+v is in a smaller share and not in %d %%", r, percent)
			}
			if was = is; is {
				count[percent]++
			}
		}
	}
	if count[0] != 0 || count[100] != 2000 || count[10] < 140 || count[10] > 260 || count[50] < 890 || count[50] > 1110 {
		t.Errorf("of 2000 sessions and tenants in each share: %v", count)
	}
}

// Once nothing is shadowed any more, by configuration and in fact, a machine is
// as fast as one that never was; what was counted stays.
func TestAShadowIsGoneWhenNothingIsInIt(t *testing.T) {
	cfg := Config{Strict: true, Classes: []Class{{Name: "x", Mode: Mode{Kind: Shadow}, Pool: pool.Config{Slots: 1}}}}
	m := must(New(cfg))
	var out Effects
	v := m.Offer(1, &Request{}, &out)
	cfg.Classes = append([]Class(nil), cfg.Classes...)
	cfg.Classes[0].Mode = Mode{}
	if err := m.Reconfigure(2, cfg, &out); err != nil {
		t.Fatal(err)
	}
	if m.shadow == nil {
		t.Fatal("a request that lives twice was forgotten")
	}
	m.Done(3, v.Ticket, Outcome{Reason: reason.Served}, &out)
	if m.shadow != nil {
		t.Error("the shadow of nothing is still cast")
	}
	if s := m.Class(0); s.Shadow == nil || s.Shadow.Tally.Offered != 1 || s.Tally.Answered[reason.Served] != 1 {
		t.Errorf("what was counted is now %+v", s)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}

// Shadowing costs no memory once the machine has reached its size.
func TestShadowingAllocatesNothing(t *testing.T) {
	m := must(New(Config{Strict: true, Classes: []Class{{Name: "x", Mode: Mode{Kind: Shadow},
		Pool: pool.Config{Slots: 2, Latency: 100 * ms, Service: 10 * ms, Bound: 3}}}}))
	var out Effects
	now := unit.Instant(0)
	var running []Ticket
	round := func() {
		for i := range 20 {
			now = now.Add(2 * ms)
			running = append(running, m.Offer(now, &Request{Tenant: []string{"a", "b"}[i%2]}, &out).Ticket)
			if len(running) > 6 {
				m.Done(now, running[0], Outcome{Reason: reason.Served}, &out)
				running = running[:copy(running, running[1:])]
			}
		}
		if len(out.List) > 0 {
			t.Fatalf("the driver is told %v of twins", out.List)
		}
	}
	round()
	round()
	if n := testing.AllocsPerRun(100, round); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if s := m.Class(0).Shadow; s.Tally.Answered[reason.QueueFull] == 0 || s.Tally.Answered[reason.Served] == 0 {
		t.Errorf("nothing was shadowed: %+v", s)
	}
}

// A class that is off gives its slots back when what it held has ended, so that
// nobody waits for them or borrows them, and has them again when it is on.
func TestAClassThatIsOffLendsNothing(t *testing.T) {
	cfg := Config{Strict: true, Classes: []Class{
		{Name: "x", Pool: pool.Config{Slots: 1, Borrow: 1, Bound: 9}},
		{Name: "y", Pool: pool.Config{Slots: 1}},
	}}
	m := must(New(cfg))
	var out Effects
	with := func(kind ModeKind) {
		t.Helper()
		cfg.Classes = append([]Class(nil), cfg.Classes...)
		cfg.Classes[1].Mode.Kind = kind
		if err := m.Reconfigure(m.now, cfg, &out); err != nil {
			t.Fatal(err)
		}
		if err := m.Check(); err != nil {
			t.Error(err)
		}
	}
	held := m.Offer(1, &Request{Class: 1}, &out)
	with(Off)
	if m.limit != 2 {
		t.Errorf("the limit is %d while what was governed runs, want 2", m.limit)
	}
	m.Done(2, held.Ticket, Outcome{Reason: reason.Served}, &out)
	first, second := m.Offer(3, &Request{}, &out), m.Offer(4, &Request{}, &out)
	if first.Kind != Run || second.Kind != Wait {
		t.Errorf("beside a class that is off: %v, then %v; want one slot", first, second)
	}
	if s := m.Class(1); s.Slots != 1 {
		t.Errorf("%d slots are shown of a class that has 1", s.Slots)
	}
	out.Reset()
	with(Enforce)
	if len(out.List) != 1 || out.List[0].Kind != Run || out.List[0].Ticket != second.Ticket {
		t.Errorf("when it is on again its idle slot is lent: %v", out.List)
	}
}

// Draining, and the removal of a class, are carried out in every mode.
func TestDrainingIsCarriedOutInEveryMode(t *testing.T) {
	for kind := Enforce; kind <= Off; kind++ {
		m := must(New(Config{Strict: true, Classes: []Class{{Name: "x", Mode: Mode{Kind: kind}, Pool: pool.Config{Slots: 1}}}}))
		var out Effects
		running := m.Offer(1, &Request{}, &out)
		m.Drain(2, &out)
		if v := m.Offer(3, &Request{}, &out); v.Kind != Refuse || v.Reason != reason.Draining {
			t.Errorf("%v: a draining machine says %v", kind, v)
		}
		m.Done(4, running.Ticket, Outcome{Reason: reason.Served}, &out)
		if s := m.Class(0); s.Tally.Answered[reason.Served] != 1 || s.Tally.Answered[reason.Draining] != 1 {
			t.Errorf("%v: %+v", kind, s.Tally)
		}
	}
}
