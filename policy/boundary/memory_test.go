package boundary

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// remembered are machines of one configuration that are to do the same: one with a
// past, and one that was told of it and whose clock says something else.
type remembered struct {
	*rapid.T
	cfg       Config
	old, heir *Machine
	now       unit.Instant
	ahead     time.Duration // of the heir's clock
	out       Effects

	waiting, running [][2]Ticket // of both
}

// TestWhatWasMeasuredIsHandedOn: whatever a machine has seen, another one that its
// memory is handed on to gives the same verdicts from then on: rooms as large,
// the same requests hopeless, the same clients refused.
func TestWhatWasMeasuredIsHandedOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := rememberedConfig(t)
		m := &remembered{T: t, cfg: cfg, old: must(New(cfg)), now: 1, ahead: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "ahead"))}
		dice := chance.New(rapid.Uint64().Draw(t, "seed"))
		m.past(rapid.IntRange(0, 1000).Draw(t, "past"), &dice)
		// Bounds are derived anew once what is measured has moved by 1/64: do it now.
		m.reconfigure(1)
		m.reconfigure(0)
		m.heir = must(New(cfg))
		m.heir.Import(m.there(), m.old.Export(m.now, 1000), &m.out)
		m.alike()
		for range 200 {
			m.now = m.now.Add(time.Duration(dice.Below(20)) * time.Millisecond)
			m.both(func(mc *Machine, now unit.Instant, _ int) { mc.Advance(now, &m.out) })
			if n := len(m.running); n > 0 && dice.Below(3) == 0 {
				i := dice.Below(int64(n))
				ended := m.running[i]
				m.running = append(m.running[:i], m.running[i+1:]...)
				m.both(func(mc *Machine, now unit.Instant, i int) {
					mc.Done(now, ended[i], Outcome{Reason: reason.Served}, &m.out)
				})
			}
			m.offer(int(dice.Below(2)), rate.Key(1+dice.Below(4)), time.Duration(1+dice.Below(400))*time.Millisecond)
		}
	})
}

// offer asks both and holds their verdicts side by side.
func (m *remembered) offer(class int, client rate.Key, left time.Duration) {
	var said [2]Verdict
	m.both(func(mc *Machine, now unit.Instant, i int) {
		said[i] = mc.Offer(now, &Request{Class: class, Client: client, Deadline: now.Add(left)}, &m.out)
	})
	if said[0].Decision != said[1].Decision {
		m.Fatalf("at %v with %v left: %v here, %v there", m.now, left, said[0].Decision, said[1].Decision)
	}
	pair := [2]Ticket{said[0].Ticket, said[1].Ticket}
	switch said[0].Kind {
	case Run:
		m.running = append(m.running, pair)
	case Wait:
		m.waiting = append(m.waiting, pair)
	}
}

// both has both do the same and holds what came of it side by side.
func (m *remembered) both(do func(mc *Machine, now unit.Instant, i int)) {
	var lists [2][]Effect
	for i, mc := range []*Machine{m.old, m.heir} {
		do(mc, []unit.Instant{m.now, m.there()}[i], i)
		lists[i] = append(lists[i], m.out.List...)
		m.out.Reset()
	}
	if len(lists[0]) != len(lists[1]) {
		m.Fatalf("at %v: %v here, %v there", m.now, lists[0], lists[1])
	}
	for k, e := range lists[0] {
		f := lists[1][k]
		pair := [2]Ticket{e.Ticket, f.Ticket}
		if e.Kind != f.Kind || e.Reason != f.Reason || !slices.Contains(append(m.waiting, m.running...), pair) {
			m.Fatalf("at %v: %v here, %v there", m.now, e, f)
		}
		is := func(p [2]Ticket) bool { return p == pair }
		switch e.Kind {
		case Run:
			m.waiting, m.running = slices.DeleteFunc(m.waiting, is), append(m.running, pair)
		case Refuse:
			m.waiting = slices.DeleteFunc(m.waiting, is)
		case Released:
			m.running = slices.DeleteFunc(m.running, is)
		}
	}
}

func rememberedConfig(t *rapid.T) Config {
	latency := time.Duration(rapid.IntRange(0, 4).Draw(t, "latency")) * 100 * time.Millisecond
	order := pool.Order(rapid.IntRange(0, 2).Draw(t, "order"))
	class := func(name string) Class {
		return Class{Name: name, Deadline: 300 * time.Millisecond, Pool: pool.Config{Slots: 3, Latency: latency, Order: order}}
	}
	cfg := Config{Name: "app", Strict: true, Classes: []Class{class("a"), class("b")}, ClientsKept: 64}
	if rapid.Bool().Draw(t, "limited") {
		cfg.Clients = rate.Rule{Burst: 5, Interval: 100 * time.Millisecond}
		cfg.Classes[1].Clients = &rate.Rule{Burst: 3, Interval: time.Second}
	}
	return cfg
}

func (m *remembered) there() unit.Instant { return m.now.Add(m.ahead) }

// past has requests run and wait in the old machine, until nobody is left.
func (m *remembered) past(events int, dice *chance.Source) {
	var running []Ticket
	for events > 0 || len(running) > 0 {
		events--
		m.now = m.now.Add(time.Duration(dice.Below(30)) * time.Millisecond)
		if n := int64(len(running)); n > 0 && (events <= 0 || dice.Below(2) == 0) {
			i := dice.Below(n)
			m.old.Done(m.now, running[i], Outcome{Reason: reason.Served}, &m.out)
			running = append(running[:i], running[i+1:]...)
		} else if events > 0 {
			r := Request{Class: int(dice.Below(2)), Client: rate.Key(1 + dice.Below(4)), Deadline: m.now.Add(time.Duration(1+dice.Below(400)) * time.Millisecond)}
			if v := m.old.Offer(m.now, &r, &m.out); v.Kind == Run {
				running = append(running, v.Ticket)
			}
		}
		for _, e := range m.out.List {
			switch e.Kind {
			case Run:
				running = append(running, e.Ticket)
			case Released:
				running = slices.DeleteFunc(running, func(t Ticket) bool { return t == e.Ticket })
			}
		}
		m.out.Reset()
	}
}

func (m *remembered) reconfigure(borrow int) {
	cfg := m.cfg
	cfg.Classes = append([]Class(nil), cfg.Classes...)
	for i := range cfg.Classes {
		cfg.Classes[i].Pool.Borrow = borrow
	}
	if err := m.old.Reconfigure(m.now, cfg, &m.out); err != nil {
		m.Fatal(err)
	}
}

// alike compares what verdicts rest on.
func (m *remembered) alike() {
	for i := range m.old.Classes() {
		a, b := m.old.Class(i), m.heir.Class(i)
		if a.Bound != b.Bound || a.Holding != b.Holding || a.ServiceTime != b.ServiceTime || a.AllowedWait != b.AllowedWait {
			m.Fatalf("class %s: bound %d, holding %v, service %v, wait %v here; %d, %v, %v, %v there", a.Name,
				a.Bound, a.Holding, a.ServiceTime, a.AllowedWait, b.Bound, b.Holding, b.ServiceTime, b.AllowedWait)
		}
	}
	if err := m.heir.Check(); err != nil {
		m.Fatal(err)
	}
}

// Classes are known by their names, in whatever order they are; a class that is new
// begins as any does, one that is no more is nobody's. Clients stay limited in the
// class's own budget, wherever it stands by now.
func TestWhatIsHandedOnGoesByNames(t *testing.T) {
	var out Effects
	rule := &rate.Rule{Burst: 1, Interval: time.Hour}
	class := func(name string) Class { return Class{Name: name, Pool: pool.Config{Slots: 2}, Clients: rule} }
	old := must(New(Config{Name: "app", Classes: []Class{class("gone"), class("a"), class("b")}}))
	now := unit.Instant(0)
	for range 20 {
		v := old.Offer(now, &Request{Class: 1}, &out)
		now = now.Add(time.Second)
		old.Done(now, v.Ticket, Outcome{Reason: reason.Served}, &out)
	}
	old.Offer(now, &Request{Class: 1, Client: 7}, &out)
	heir := must(New(Config{Name: "app", Classes: []Class{class("new"), class("b"), class("a")}}))
	heir.Import(5, old.Export(now, 10), &out)
	for i, want := range []time.Duration{0, 0, time.Second} {
		if s := heir.Class(i); s.Holding != want {
			t.Errorf("class %s: slots are held for %v, want %v", s.Name, s.Holding, want)
		}
	}
	for i, want := range []Kind{Run, Run, Refuse} {
		if v := heir.Offer(6, &Request{Class: i, Client: 7}, &out); v.Kind != want {
			t.Errorf("class %s: %v, want %v", heir.Class(i).Name, v.Decision, want)
		}
	}
	if err := heir.Check(); err != nil {
		t.Error(err)
	}
}
