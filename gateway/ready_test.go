package gateway

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/boundary"
)

// full is a gateway whose one class has a slot and a place, both taken, so that
// whatever is offered is shed. Nothing listens.
func full(t *testing.T, ready string) (g *Gateway, offer func()) {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte("upstreams: { app: { url: \"http://127.0.0.1:1\" } }\n"+ready+
		"classes: { all: { slots: 1, deadline: 5m, memory: { limit: 64KiB, per_request: 64KiB } } }\n"))
	if err != nil {
		t.Fatal(err)
	}
	g = &Gateway{seen: observe.New(observe.Options{}), readiness: newReadiness(), log: newJournal(slog.New(slog.DiscardHandler))}
	p, err := g.newGeneration(cfg.WithDefaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	g.current.Store(p.generation)
	gt := g.current.Load().resources[0].gate
	permit, _ := gt.Enter(t.Context(), gate.Request{})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() { defer close(left); gt.Enter(ctx, gate.Request{}) }()
	t.Cleanup(func() { leave(); <-left; permit.Done(); gt.Close() })
	synctest.Wait()
	return g, func() {
		for range 10 {
			if _, refused := gt.Enter(t.Context(), gate.Request{}); refused.Reason.String() != "queue_full" {
				t.Fatalf("let in, or refused for %v", refused.Reason)
			}
		}
	}
}

// probe asks once a second, as a balancer would, while everything is shed, and
// returns the seconds in which the answer changed. second passes one.
func probe(g *Gateway, seconds int, second, offer func()) (changes []int) {
	was := true
	for s := range seconds {
		second()
		offer()
		if is := g.ready(); is != was {
			changes = append(changes, s)
			was = is
		}
	}
	return changes
}

// Unless it was told to mind, a gateway that sheds all it is offered is ready:
// who sent it away would have all its load elsewhere.
func TestSheddingIsNoReasonNotToBeReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, offer := full(t, "")
		if changes := probe(g, 120, func() { time.Sleep(time.Second) }, offer); len(changes) > 0 {
			t.Errorf("it said no at %v s", changes)
		}
	})
}

func TestReadinessFollowsSheddingIfToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, offer := full(t, "ready: { shedding: 50%, for: 5s, out: 30s }\n")
		g.readiness.place = 0 // its turn to be out is now, for 30 s
		changes := probe(g, 100, func() { time.Sleep(time.Second) }, offer)
		if len(changes) != 4 || changes[0] < 4 || changes[0] > 7 || changes[1]+1 < 30 || changes[1] > 31 || changes[2] < 59 || changes[2] > 61 {
			t.Errorf("its answer changed at %v s; want no after 5 s, yes from 30 s on, no again from 60 s on", changes)
		}
	})
}

// What an operator refuses by hand is no reason to send everything elsewhere.
func TestWhatAnOperatorRefusesIsNotShedding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := full(t, "ready: { shedding: 50%, for: 5s, out: 30s }\n")
		g.readiness.place = 0
		gt := g.current.Load().resources[0].gate
		gt.Operate(0, boundary.RefuseAll, time.Hour)
		refused := func() {
			if _, r := gt.Enter(t.Context(), gate.Request{}); r.Reason.String() != "operator" {
				t.Fatalf("refused for %v", r.Reason)
			}
		}
		if changes := probe(g, 25, func() { time.Sleep(time.Second) }, refused); len(changes) > 0 {
			t.Errorf("it said no at %v s", changes)
		}
	})
}
