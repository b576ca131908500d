package boundary

import (
	"testing"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A held class takes in as if every slot were taken, starts nothing, and
// starts all it can at the instant at which it is let go.
func TestAHeldClassStartsNothingUntilItIsLetGo(t *testing.T) {
	cfg := Config{Name: "provider", Strict: true, Classes: []Class{
		{Name: "jobs", Held: true, Pool: pool.Config{Slots: 2, Bound: 4}},
		{Name: "others", Pool: pool.Config{Slots: 1, Bound: 4}},
	}}
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var out Effects
	expect := func(what string, class int, want Kind) {
		t.Helper()
		if v := m.Offer(0, &Request{Class: class}, &out); v.Kind != want {
			t.Errorf("%s: %v, want %v", what, v, want)
		}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		expect("a slot is free but held", 0, Wait)
	}
	expect("the room is full", 0, Refuse)
	expect("another class is not held", 1, Run)
	if len(out.List) != 0 {
		t.Fatalf("before it is let go: %v", out.List)
	}

	cfg.Classes[0].Held = false
	if err := m.Reconfigure(unit.Instant(1), cfg, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.List) != 2 || out.List[0].Kind != Run || out.List[1].Kind != Run {
		t.Errorf("let go: %v, want its two slots started", out.List)
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
}
