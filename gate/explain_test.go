package gate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Everybody who is answered without having been served has a case, told once and
// by its id: at the offer, in the room, and running; and nobody else has.
func TestCases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		g, err := gate.New(gate.Config{Strict: true, Classes: []gate.Class{{
			Name: "checkout", Deadline: 100 * time.Millisecond,
			Pool: gate.Pool{Slots: 1, Bound: 1, WhenFull: pool.Displace, Levels: 2},
		}}}, gate.WithCases(func(class, id string, x *boundary.Case) {
			told = append(told, fmt.Sprintf("%s: %s %v in %v", class, id, x.Reason, x.Stage))
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		enter := func(id string, importance int) {
			p, _ := g.Enter(context.Background(), gate.Request{ID: id, Importance: importance, OnOverdue: func(gate.Refusal) {}})
			if id == "served" {
				p.Done()
			}
		}
		enter("served", 0)
		enter("runs too long", 0)
		go enter("displaced", 1)
		synctest.Wait()
		go enter("waits in vain", 0)
		synctest.Wait()
		enter("refused", 1)
		time.Sleep(time.Second)
		synctest.Wait()
		want := []string{
			"checkout: displaced evicted in room", "checkout: refused queue_full in offer",
			"checkout: runs too long timeout in running", "checkout: waits in vain expired in room",
		}
		slices.Sort(told)
		if !slices.Equal(told, want) {
			t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A refusal with its case allocates nothing either.
func TestARefusalWithItsCaseAllocatesNothing(t *testing.T) {
	n := 0
	g, err := gate.New(gate.Config{Classes: []gate.Class{{Name: "checkout", Pool: gate.Pool{Slots: 1, Latency: 1, Service: 1}}}},
		gate.WithCases(func(string, string, *boundary.Case) { n++ }))
	if err != nil {
		t.Fatal(err)
	}
	p, _ := g.Enter(context.Background(), gate.Request{})
	defer p.Done()
	ctx := context.Background()
	if allocs := testing.AllocsPerRun(100, func() { g.Enter(ctx, gate.Request{ID: "x"}) }); allocs != 0 || n < 100 {
		t.Errorf("%v allocations, %d cases", allocs, n)
	}
}

// In shadow it is told of those who would have been refused, and were not.
func TestCasesInShadow(t *testing.T) {
	var told []string
	class := gate.Class{Name: "checkout", Pool: gate.Pool{Slots: 1, Latency: 1, Service: 1}}
	class.Mode.Kind = boundary.Shadow
	g, err := gate.New(gate.Config{Classes: []gate.Class{class}}, gate.WithCases(func(_, id string, x *boundary.Case) {
		told = append(told, fmt.Sprint(id, " ", x.Reason, " ", x.Shadow))
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"first", "one too many"} {
		p, err := g.Acquire(context.Background(), gate.Request{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Done()
	}
	if !slices.Equal(told, []string{"one too many queue_full true"}) {
		t.Errorf("told %q", told)
	}
}

// Whether cases are told can be changed while the gate is in use.
func TestTellCases(t *testing.T) {
	g, err := gate.New(gate.Config{Classes: []gate.Class{{Name: "checkout", Pool: gate.Pool{Slots: 1, Latency: 1, Service: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := g.Enter(context.Background(), gate.Request{})
	defer p.Done()
	var told []string
	for _, id := range []string{"before", "asked for", "after"} {
		g.TellCases(nil)
		if id == "asked for" {
			g.TellCases(func(_, id string, _ *boundary.Case) { told = append(told, id) })
		}
		if _, refused := g.Enter(context.Background(), gate.Request{ID: id}); refused.Reason != reason.QueueFull {
			t.Errorf("%s: let in", id)
		}
	}
	if !slices.Equal(told, []string{"asked for"}) {
		t.Errorf("told %q", told)
	}
}
