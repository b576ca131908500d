package boundary

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// adaptive is a resource with a limit that adapts, of classes from a floor to a most.
func adaptive(start int, classes ...Class) *Machine {
	return must(New(Config{Strict: true, Classes: classes, Limit: limit.Config{Law: limit.Knee, Start: start}}))
}

func between(name string, floor, most int) Class {
	return Class{Name: name, Floor: floor, Pool: pool.Config{Slots: most, Bound: 100}}
}

// fill offers so many requests to a class and returns the tickets of those that run.
func fill(m *Machine, now unit.Instant, class, n int) (running []Ticket) {
	var out Effects
	for range n {
		if v := m.Offer(now, &Request{Class: class}, &out); v.Kind == Run {
			running = append(running, v.Ticket)
		}
	}
	return running
}

func TestOneLimitIsSharedOut(t *testing.T) {
	for _, tt := range []struct {
		limit   int
		classes []Class
		own     []int
	}{
		{20, []Class{between("a", 0, 100)}, []int{20}},
		{20, []Class{between("a", 1, 101), between("b", 1, 101)}, []int{10, 10}},
		{21, []Class{between("a", 1, 101), between("b", 1, 101)}, []int{11, 10}},
		{20, []Class{between("a", 4, 304), between("b", 1, 101)}, []int{16, 4}},
		{20, []Class{between("fixed", 8, 8), between("b", 1, 101)}, []int{8, 12}},
		{2, []Class{between("a", 4, 100), between("b", 2, 100)}, []int{4, 2}}, // floors count, whatever the start
	} {
		m := adaptive(tt.limit, tt.classes...)
		sum := 0
		for i, want := range tt.own {
			s := m.Class(i)
			if s.Slots != want || s.Slots+s.Borrow != tt.classes[i].Pool.Slots {
				t.Errorf("limit %d: class %s is guaranteed %d and may borrow %d; want %d of at most %d", tt.limit, s.Name, s.Slots, s.Borrow, want, tt.classes[i].Pool.Slots)
			}
			sum += s.Slots
		}
		if got := m.Limit().Limit; got != sum {
			t.Errorf("the limit is %d, its parts add up to %d", got, sum)
		}
	}
}

// All load in one class: it may use all that the other leaves idle. When the other
// comes it gets its part back, a call at a time, before anybody else gets one.
func TestIdlePartsAreLentAndComeBack(t *testing.T) {
	m := adaptive(20, between("low", 1, 101), between("high", 1, 101))
	running := fill(m, 0, 0, 60)
	if len(running) != 20 {
		t.Fatalf("alone, low runs %d of 20", len(running))
	}
	if n := len(fill(m, 1, 1, 15)); n != 0 {
		t.Fatalf("%d of high run beside a full resource", n)
	}
	var out Effects
	for i, ticket := range running[:12] {
		out.Reset()
		m.Done(unit.Instant(10+i), ticket, Outcome{Reason: reason.Served}, &out)
		for _, e := range out.List {
			if want := 1; e.Kind == Run && i < 10 && e.Class != want {
				t.Fatalf("end %d: the slot went to %s; high has %d of the 10 it is guaranteed", i, m.Class(e.Class).Name, m.Class(1).Used)
			}
		}
	}
	if low, high := m.Class(0).Used, m.Class(1).Used; low != 10 || high != 10 {
		t.Errorf("low holds %d, high %d; want 10 each", low, high)
	}
}

// Fifty event streams of ten minutes that all end at once are fifty answers that began
// long ago.
func TestStreamsAreSampledWhenTheyBegin(t *testing.T) {
	unary, events := between("unary", 1, 200), between("events", 1, 200)
	for _, c := range []*Class{&unary, &events} {
		c.Streams, c.Deadline, c.DeadlineMax = Streams{Most: 50, After: time.Second}, time.Hour, time.Hour
	}
	m := adaptive(200, unary, events)
	var out Effects
	streams := fill(m, 0, 1, 50)
	for _, s := range streams {
		m.Answered(unit.Instant(20*time.Millisecond), s, &out)
	}
	now := unit.Instant(time.Second)
	calls := func(n int) {
		for range n {
			for _, c := range fill(m, now, 0, 20) {
				m.Done(now.Add(20*time.Millisecond), c, Outcome{Reason: reason.Served}, &out)
			}
			now = now.Add(40 * time.Millisecond)
		}
	}
	calls(15_000) // ten minutes
	before, refused := m.Limit(), m.Class(0).Tally.Answered[reason.QueueFull]
	for _, s := range streams {
		m.Done(now, s, Outcome{Reason: reason.Served}, &out)
	}
	calls(250)
	if after := m.Limit(); after.Limit < before.Limit*9/10 || after.Baseline > 2*before.Baseline {
		t.Errorf("before the streams ended %+v, after it %+v", before, after)
	}
	if n := m.Class(0).Tally.Answered[reason.QueueFull] - refused; n != 0 {
		t.Errorf("%d calls were refused", n)
	}
}

// What was learned outlives a reload of whatever it does not concern, a change of its
// bounds as far as they allow, and the process.
func TestWhatALimitLearnedIsKept(t *testing.T) {
	cfg := Config{Strict: true, Classes: []Class{between("a", 1, 200)}, Limit: limit.Config{Law: limit.Knee}}
	m := must(New(cfg))
	var out Effects
	now := unit.Instant(0)
	for m.Limit().Limit < 100 {
		for _, c := range fill(m, now, 0, 150) {
			m.Done(now.Add(20*time.Millisecond), c, Outcome{Reason: reason.Served}, &out)
		}
		for _, it := range m.Items(0, 1000) {
			if it.State == pool.Running.String() {
				m.Done(now.Add(30*time.Millisecond), it.Ticket, Outcome{Reason: reason.Served}, &out)
			}
		}
		now = now.Add(50 * time.Millisecond)
		if now > unit.Instant(time.Minute) {
			t.Fatalf("after a minute of demand the limit is %+v", m.Limit())
		}
	}
	learned := m.Limit().Limit
	reload := func(change func(*Config)) int {
		next := cfg
		next.Classes = append([]Class(nil), cfg.Classes...)
		change(&next)
		if err := m.Reconfigure(now, next, &out); err != nil {
			t.Fatal(err)
		}
		return m.Limit().Limit
	}
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   int
	}{
		{"nothing", func(*Config) {}, learned},
		{"another deadline", func(c *Config) { c.Classes[0].Deadline = time.Second }, learned},
		{"another class", func(c *Config) { c.Classes = append(c.Classes, between("b", 1, 50)) }, learned},
		{"a lower most", func(c *Config) { c.Classes[0].Pool.Slots = 40 }, 40},
	} {
		if got := reload(tt.change); got != tt.want {
			t.Errorf("%s: the limit is %d, want %d", tt.name, got, tt.want)
		}
	}
	m.Import(now, Memory{Limit: &limit.Measured{Limit: 33}}, &out)
	heir := must(New(cfg))
	heir.Import(0, m.Export(now, 0), &out)
	if got := heir.Limit().Limit; got != 33 {
		t.Errorf("the heir begins with %d, want 33", got)
	}
	if got := reload(func(c *Config) { c.Limit = limit.Config{} }); got != 200 {
		t.Errorf("fixed again: %d, want 200", got)
	}
}
