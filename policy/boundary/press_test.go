package boundary

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// second is the instant so many seconds after the start.
func second(n float64) unit.Instant { return unit.Instant(n * float64(time.Second)) }

// What pressure leaves is shared out in proportion to what each class is guaranteed,
// one slot at least, and given back in whole, whether the limit is fixed or found.
func TestEveryClassGivesWayToPressure(t *testing.T) {
	fixed := func(name string, slots, borrow int) Class {
		return Class{Name: name, Pool: pool.Config{Slots: slots, Borrow: borrow, Bound: 100}}
	}
	for name, k := range map[string]struct {
		machine      *Machine
		whole, under []int // slots guaranteed
		limit, left  int
	}{
		"fixed": {must(New(Config{Strict: true, Classes: []Class{fixed("a", 40, 0), fixed("b", 8, 40), fixed("c", 1, 0), fixed("d", 0, 10)}})),
			[]int{40, 8, 1, 0}, []int{21, 4, 1, 0}, 49, 25}, // 24.5 of 49; who comes first has what does not come out even
		"borrowers alone": {must(New(Config{Strict: true, Classes: []Class{fixed("a", 0, 10)}})), []int{0}, []int{0}, 10, 5},
		"found":           {adaptive(20, between("a", 1, 101), between("b", 1, 101)), []int{10, 10}, []int{5, 5}, 20, 10},
		"found, floors":   {adaptive(20, between("a", 8, 100), between("b", 8, 8)), []int{12, 8}, []int{8, 8}, 20, 10},
	} {
		t.Run(name, func(t *testing.T) {
			var out Effects
			m := k.machine
			shared := func(when string, want []int, limit int, given float64) {
				t.Helper()
				for i, n := range want {
					s := m.Class(i)
					if s.Slots != n {
						t.Errorf("%s: class %s is guaranteed %d, want %d", when, s.Name, s.Slots, n)
					}
					if most := m.classes[i].Class.Pool.Slots + m.classes[i].Class.Pool.Borrow; s.Slots+s.Borrow != most {
						t.Errorf("%s: class %s may have %d, want %d as ever", when, s.Name, s.Slots+s.Borrow, most)
					}
				}
				if s := m.Limit(); s.Limit != limit || s.GivenWay != given || (s.Doing == "giving way to pressure") != (given > 0) {
					t.Errorf("%s: %+v, want %d", when, s, limit)
				}
			}
			shared("before", k.whole, k.limit, 0)
			m.Press(second(1), 2, &out)
			shared("under pressure", k.under, k.left, 0.5)
			for i := range 5 {
				m.Press(second(float64(2+i)), 0, &out)
			}
			shared("at ease", k.whole, k.limit, 0)
			if err := m.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What runs is not cut; the next starts under the lowered limit, and who waits starts as
// soon as there is room again.
func TestPressureHoldsBackWhoComesNext(t *testing.T) {
	var out Effects
	m := must(New(Config{Strict: true, Classes: []Class{{Name: "a", Pool: pool.Config{Slots: 10, Bound: 100}}}}))
	running := fill(m, 0, 0, 10)
	m.Press(second(1), 2, &out)
	if s := m.Class(0); len(out.List) > 0 || s.Used != 10 || s.Slots != 5 {
		t.Fatalf("%v; %+v", out.List, s)
	}
	for _, c := range running[:5] {
		m.Done(second(2), c, Outcome{Reason: reason.Served}, &out)
	}
	if n := len(fill(m, second(2), 0, 4)); n != 0 || len(out.List) > 0 {
		t.Fatalf("%d start beside five of five: %v", n, out.List)
	}
	m.Press(second(3), 0, &out)
	if s := m.Class(0); len(out.List) != 1 || s.Used != 6 || s.Slots != 6 {
		t.Errorf("a tenth came back, and %v; %+v", out.List, s)
	}
}

// A driver that has died, and one whose signals are off, holds nothing back for longer
// than what it told counts, at whatever instant somebody looks.
func TestPressureThatIsNotToldAnyMoreIsForgotten(t *testing.T) {
	for name, mode := range map[string]Mode{"in force": {}, "in shadow": {Kind: Shadow}} {
		t.Run(name, func(t *testing.T) {
			var out Effects
			m := must(New(Config{Strict: true, Classes: []Class{{Name: "a", Mode: mode, Deadline: time.Minute, Pool: pool.Config{Slots: 10, Bound: 100}}}}))
			m.Press(second(1), 2, &out)
			if n := len(fill(m, second(2), 0, 8)); n != 5 && mode.Kind == Enforce {
				t.Fatalf("%d of 5 run", n)
			}
			if at, want := m.Next(), second(1).Add(limit.PressureHeld); at != want {
				t.Fatalf("the next thing to happen is at %v, want %v", at, want)
			}
			m.Advance(second(30), &out)
			if s := m.Class(0); s.Slots != 10 || m.Limit().GivenWay != 0 || m.classes[0].Used() != 8 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A reload under pressure keeps it, and what it gives back is what is configured by then;
// a class that is gone keeps nothing.
func TestAReloadUnderPressure(t *testing.T) {
	classes := func(slots ...int) (cfg Config) {
		cfg.Strict = true
		for i, n := range slots {
			if n > 0 {
				cfg.Classes = append(cfg.Classes, Class{Name: string(rune('a' + i)), Pool: pool.Config{Slots: n, Bound: 10}})
			}
		}
		return cfg
	}
	var out Effects
	m := must(New(classes(10, 20, 30)))
	m.Press(second(1), 2, &out)
	if err := m.Reconfigure(second(2), classes(10, 40, 0), &out); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		when string
		want [3]int
	}{{"under pressure", [3]int{5, 20, 0}}, {"at ease", [3]int{10, 40, 0}}} {
		for i, n := range k.want {
			if got := m.Class(i).Slots; got != n {
				t.Errorf("%s: class %d is guaranteed %d, want %d", k.when, i, got, n)
			}
		}
		if err := m.Check(); err != nil {
			t.Error(err)
		}
		m.Advance(second(60), &out)
	}
}
