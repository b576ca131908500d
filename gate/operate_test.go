package gate_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Draining refuses what is new, serves what waits, and ends when nothing waits
// or runs.
func TestDrain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := open(t, class(1, 2))
		busy := admit(t, g, gate.Request{})
		waiter := enter(context.Background(), g, gate.Request{})
		drained := make(chan error, 2)
		for range 2 {
			go func() { drained <- g.Drain(context.Background()) }()
		}
		synctest.Wait()
		if _, refused := g.Enter(context.Background(), gate.Request{}); refused.Reason != reason.Draining || refused.RetryAfter <= 0 {
			t.Errorf("a new one was told %+v", refused)
		}
		busy.Done()
		p := isDecided(t, waiter).permit
		if len(drained) != 0 {
			t.Error("drained while work runs")
		}
		p.Done()
		synctest.Wait()
		if len(drained) != 2 || <-drained != nil || <-drained != nil {
			t.Error("nothing waits or runs, and it has not drained")
		}
		if err := g.Drain(context.Background()); err != nil {
			t.Errorf("once more: %v", err)
		}
	})
}

// Drain gives up with its context, and does not wait for abandoned work.
func TestDrainGivesUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := open(t, class(1, 1))
		p := admit(t, g, gate.Request{})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := g.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("drained with work running: %v", err)
		}
		p.Abandon(reason.CallerGone)
		if err := g.Drain(ctx); err != nil {
			t.Errorf("only abandoned work is left: %v", err)
		}
		p.Done()
	})
}

// After Close no timer fires, whatever happens still.
func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := open(t, class(1, 1))
		told := false
		p := admit(t, g, gate.Request{Timeout: ms, OnOverdue: func(gate.Refusal) { told = true }})
		g.Close()
		if _, refused := g.Enter(context.Background(), gate.Request{Timeout: -1}); refused.Reason != reason.Expired {
			t.Errorf("%+v", refused)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if told {
			t.Error("a timer fired")
		}
		p.Done()
	})
}

// What there is to see: who waits, who runs, and who they are.
func TestLook(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := open(t, class(1, 2))
		busy := admit(t, g, gate.Request{Tenant: "acme"})
		d := enter(context.Background(), g, gate.Request{Tenant: "zenith", Bytes: 10})
		time.Sleep(time.Second)
		items := g.Items(0, 10)
		if len(items) != 2 || items[0].State != "running" || items[0].Held != time.Second || items[1].Tenant != "zenith" || items[1].Age != time.Second {
			t.Errorf("items %+v", items)
		}
		if s := g.States()[0]; s.OldestWait != time.Second || s.WaitingBytes != 10 {
			t.Errorf("state %+v", s)
		}
		known, _ := g.Tenants(0)
		if len(known) != 3 || known[1].Name != "acme" || known[2].Tally.Waiting != 1 { // the nameless one first
			t.Errorf("tenants %+v", known)
		}
		busy.Done()
		isDecided(t, d).permit.Done()
	})
}

// The tap sees every event once, in order, with what came of it, and the same
// instants as the machine.
func TestTap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		var lines []string
		g := openWith(t, gate.Config{Classes: []gate.Class{class(1, 1)}, Strict: true}, gate.WithTap(func(e boundary.Event) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, e.String())
		}))
		time.Sleep(ms)
		busy := admit(t, g, gate.Request{Tenant: "acme"})
		d := enter(context.Background(), g, gate.Request{Timeout: 10 * ms})
		g.Enter(context.Background(), gate.Request{Timeout: time.Second})
		time.Sleep(ms)
		busy.Answered()
		busy.Done()
		p := isDecided(t, d).permit
		time.Sleep(9 * ms)
		p.Drop()
		g.Drain(context.Background())
		want := []string{
			`1ms offer class=0 tenant="acme": run #0.1 until 30.001s`,
			`1ms offer class=0 tenant="": wait #1.1 until 11ms`,
			`1ms offer class=0 tenant="": refuse queue_full, retry after`,
			`2ms answered #0.1`,
			`2ms done #0.1; run #1.1`,
			`11ms advance; overdue #1.1 timeout, retry after`,
			`11ms done #1.1`,
			`11ms drain`,
		}
		mu.Lock()
		defer mu.Unlock()
		if len(lines) != len(want) {
			t.Fatalf("%d events, want %d: %q", len(lines), len(want), lines)
		}
		for i, line := range lines {
			if !strings.HasPrefix(line, want[i]) {
				t.Errorf("event %d: %s, want %s", i, line, want[i])
			}
		}
	})
}
