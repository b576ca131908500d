package gate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

func shadowed(t *testing.T, mode gate.Mode) *gate.Gate {
	t.Helper()
	g, err := gate.New(gate.Config{Strict: true, Classes: []gate.Class{{
		Name: "app", Mode: mode, Deadline: 50 * time.Millisecond, AdmitHopeless: true,
		Pool: gate.Pool{Slots: 1, Bound: 1},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// In shadow everybody runs at once, with no deadline but the context's, and the
// permit says what was decided: run, wait, refuse.
func TestAPermitInShadowSaysWhatWasDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := shadowed(t, gate.Mode{Kind: gate.Shadow})
		var all []gate.Permit
		for _, want := range []boundary.Decision{{Kind: boundary.Run}, {Kind: boundary.Wait}, {Kind: boundary.Refuse, Reason: reason.QueueFull}} {
			p, err := g.Acquire(t.Context(), gate.Request{OnOverdue: func(gate.Refusal) { t.Error("somebody is told of a deadline that does not govern him") }})
			if err != nil {
				t.Fatal(err)
			}
			v, shadowed := p.Would()
			if p.Governed() || !shadowed || v.Decision != want || p.Remaining() < 1000*time.Hour {
				t.Errorf("governed %v, would be %v (%v), %v are left; want %v", p.Governed(), v, shadowed, p.Remaining(), want)
			}
			all = append(all, p)
		}
		time.Sleep(time.Second) // far beyond the deadline
		for _, p := range all {
			p.Done()
			if _, still := p.Would(); still {
				t.Error("a finished permit says what would have been")
			}
		}
		s := g.States()[0]
		if s.Tally.Answered[reason.Served] != 3 || s.Shadow.Tally.Answered[reason.Timeout] != 1 || s.Shadow.Tally.Answered[reason.Expired] != 1 || s.Shadow.Tally.Answered[reason.QueueFull] != 1 {
			t.Errorf("it happened that %+v; it would have that %+v", s.Tally, s.Shadow.Tally)
		}
		if err := g.Check(); err != nil {
			t.Error(err)
		}
		g.Close()
	})
}

// Draining waits for what really runs, and not for those who would be waiting.
func TestDrainWaitsForWhatReallyRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := shadowed(t, gate.Mode{Kind: gate.Shadow})
		start := time.Now()
		for _, takes := range []time.Duration{30 * time.Millisecond, 10 * time.Millisecond} {
			p, err := g.Acquire(t.Context(), gate.Request{})
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(takes, p.Done)
		}
		if err := g.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 30*time.Millisecond {
			t.Errorf("drained after %v, the last work ended after 30ms", took)
		}
		if _, err := g.Acquire(t.Context(), gate.Request{}); err == nil {
			t.Error("a draining gate in shadow took a request in")
		}
		time.Sleep(time.Second)
		g.Close()
	})
}

func TestAGovernedPermitHasNoShadow(t *testing.T) {
	for _, mode := range []gate.Mode{{}, {Kind: gate.Off}} {
		g := shadowed(t, mode)
		p, err := g.Acquire(t.Context(), gate.Request{Session: gate.SessionKey("s")})
		if err != nil {
			t.Fatal(err)
		}
		if _, shadowed := p.Would(); shadowed || p.Governed() != (mode.Kind == gate.Enforce) {
			t.Errorf("%v: governed %v, in shadow %v", mode.Kind, p.Governed(), shadowed)
		}
		p.Done()
		g.Close()
	}
	if p := (gate.Permit{}); p.Governed() {
		t.Error("no permit is governed")
	}
}
