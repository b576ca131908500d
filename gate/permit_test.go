package gate_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// A permit is finished exactly once, whatever happens to the work.
func TestDoFinishesOnEveryPath(t *testing.T) {
	boom := errors.New("boom")
	cancelled, cancel := context.WithCancel(context.Background())
	cases := []struct {
		name string
		ctx  context.Context
		work func(context.Context) error
		want error
		why  reason.Reason
	}{
		{"return", context.Background(), func(context.Context) error { return nil }, nil, reason.Served},
		{"error", context.Background(), func(context.Context) error { return boom }, boom, reason.Failed},
		{"panic", context.Background(), func(context.Context) error { panic(boom) }, nil, reason.Failed},
		{"nil panic", context.Background(), func(context.Context) error { panic(nil) }, nil, reason.Failed},
		{"Goexit", context.Background(), func(context.Context) error { runtime.Goexit(); return nil }, nil, reason.Failed},
		{"hang-up", cancelled, func(ctx context.Context) error { cancel(); return ctx.Err() }, context.Canceled, reason.CallerGone},
		{"deadline", context.Background(), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, context.DeadlineExceeded, reason.Timeout},
		{"error of its own after the deadline", context.Background(), func(ctx context.Context) error { <-ctx.Done(); return boom }, boom, reason.Timeout},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.ctx == cancelled {
				testDo(t, c.ctx, c.work, c.want, c.why)
				return
			}
			bubble(t, func(t *testing.T) { testDo(t, c.ctx, c.work, c.want, c.why) })
		})
	}
}

func testDo(t *testing.T, ctx context.Context, work func(context.Context) error, want error, why reason.Reason) {
	g := open(t, class(1, 0))
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { recover() }()
		err = g.Do(ctx, gate.Request{}, work)
	}()
	<-ended
	if !errors.Is(err, want) {
		t.Errorf("Do returned %v, want %v", err, want)
	}
	s := g.States()[0]
	if s.Used != 0 || s.Tally.Answered[why] != 1 || s.Tally.Offered != 1 {
		t.Errorf("slots used %d, account %+v; want none used and one %v", s.Used, s.Tally, why)
	}
	admit(t, g, gate.Request{}).Done() // the slot is free for the next
}

// A refused Do does not run its work.
func TestDoRefused(t *testing.T) {
	g := open(t, class(1, 0))
	p := admit(t, g, gate.Request{})
	defer p.Done()
	err := g.Do(context.Background(), gate.Request{}, func(context.Context) error {
		t.Error("ran without a slot")
		return nil
	})
	if !errors.Is(err, reason.QueueFull) {
		t.Errorf("got %v, want %v", err, reason.QueueFull)
	}
}

// Many goroutines finish the same permit while others come and go: the slot is
// given back once, the limit holds at every moment, and each finish too many is
// counted.
func TestDoubleRelease(t *testing.T) {
	const limit, rounds, finishers = 3, 50, 100
	g := openWith(t, gate.Config{Classes: []gate.Class{class(limit, 1000)}})
	var running, most atomic.Int64
	var all sync.WaitGroup
	for range rounds {
		all.Go(func() {
			p := admit(t, g, gate.Request{})
			n := running.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			runtime.Gosched()
			running.Add(-1)
			var each sync.WaitGroup
			for range finishers {
				each.Go(p.Done)
			}
			each.Wait()
			if s := g.States()[0]; s.Used < 0 || s.Used > limit {
				t.Errorf("%d of %d slots used", s.Used, limit)
			}
		})
	}
	all.Wait()
	if most.Load() > limit {
		t.Errorf("%d ran at once, the limit is %d", most.Load(), limit)
	}
	if want := int64(rounds * (finishers - 1)); g.Bugs() != want {
		t.Errorf("%d bugs counted, want %d", g.Bugs(), want)
	}
	if served := g.States()[0].Tally.Answered[reason.Served]; served != rounds {
		t.Errorf("%d served, want %d", served, rounds)
	}
}

// The zero permit is no right to anything, and harmless.
func TestZeroPermit(t *testing.T) {
	var p gate.Permit
	p.Done()
	p.Drop()
	p.Abandon(reason.Timeout)
	if p.Answered() || !p.Deadline().IsZero() || p.Remaining() != 0 {
		t.Error("the zero permit claims something")
	}
}

// A class that does not exist is a bug of the caller's, told before any lock is
// taken: the gate works on.
func TestUnknownClass(t *testing.T) {
	g := open(t, class(1, 0))
	for _, index := range []int{-1, 1, 1 << 40} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("class %d: no panic", index)
				}
			}()
			g.Enter(context.Background(), gate.Request{Class: index})
		}()
	}
	admit(t, g, gate.Request{Class: g.Class("checkout")}).Done()
	if g.Class("no such") != -1 {
		t.Error("found a class that does not exist")
	}
}
