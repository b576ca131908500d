package gate_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/test/need"
)

// Neither admission nor refusal nor a wait allocates.
func TestNoAllocations(t *testing.T) {
	ctx := context.Background()
	none := func(name string, f func()) {
		t.Helper()
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	waits := 0
	g := openWith(t, gate.Config{Classes: []gate.Class{class(1, 1)}, Strict: true}, gate.WithTap(func(e boundary.Event) {
		if e.Kind == boundary.Offered && e.Verdict.Kind == boundary.Wait {
			waits++
		}
	}))
	run := func(r gate.Request) {
		p, refused := g.Enter(ctx, r)
		if refused.Reason != reason.None {
			t.Error("refused")
		}
		runtime.Gosched() // where somebody else is about, it comes to wait
		p.Done()
	}
	none("admit", func() { run(gate.Request{Tenant: "acme"}) })
	overdue := func(gate.Refusal) {}
	none("admit, to be told when overdue", func() { run(gate.Request{OnOverdue: overdue}) })

	if need.Race {
		t.Log("waits are not measured: the race detector makes a pool forget at random")
	} else {
		var stop atomic.Bool
		var other sync.WaitGroup
		other.Go(func() {
			for !stop.Load() {
				run(gate.Request{})
			}
		})
		none("wait", func() { run(gate.Request{}) })
		stop.Store(true)
		other.Wait()
		if waits < 100 {
			t.Errorf("only %d waited", waits)
		}
	}

	busy, _ := g.Enter(ctx, gate.Request{})
	hangUp, cancel := context.WithCancel(ctx)
	var other sync.WaitGroup
	other.Go(func() { g.Enter(hangUp, gate.Request{}) })
	for waiting(g) == 0 {
		runtime.Gosched()
	}
	none("refuse", func() {
		if _, refused := g.Enter(ctx, gate.Request{Tenant: "acme"}); refused.Reason != reason.QueueFull {
			t.Error("not refused")
		}
	})
	cancel()
	other.Wait()
	busy.Done()
}
