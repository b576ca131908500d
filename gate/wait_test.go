package gate_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Waiters give up at the very instant, or a nanosecond around it, at which slots
// come free. Whoever wins, after every round all slots are there again
// (failsafe-lib/failsafe#393).
func TestGiveUpNearRelease(t *testing.T) {
	const slots, rounds = 8, 1000
	giveUp := map[string]func(g *gate.Gate, at time.Duration) (gate.Permit, gate.Refusal){
		"context's deadline": func(g *gate.Gate, at time.Duration) (gate.Permit, gate.Refusal) {
			ctx, cancel := context.WithTimeout(context.Background(), at)
			defer cancel()
			return g.Enter(ctx, gate.Request{})
		},
		"timeout": func(g *gate.Gate, at time.Duration) (gate.Permit, gate.Refusal) {
			return g.Enter(context.Background(), gate.Request{Timeout: at})
		},
		"hang-up": func(g *gate.Gate, at time.Duration) (gate.Permit, gate.Refusal) {
			ctx, cancel := context.WithCancel(context.Background())
			defer time.AfterFunc(at, cancel).Stop()
			return g.Enter(ctx, gate.Request{})
		},
	}
	for name, wait := range giveUp {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := open(t, class(slots, slots))
				for round := range rounds {
					var all sync.WaitGroup
					for i := range slots {
						p := admit(t, g, gate.Request{Timeout: time.Hour})
						off := time.Duration((round+i)%3 - 1) // -1, 0, 1 ns
						time.AfterFunc(time.Millisecond+off, p.Done)
					}
					for range slots {
						all.Go(func() {
							if p, refused := wait(g, time.Millisecond); refused.Reason == reason.None {
								p.Done()
							}
						})
					}
					all.Wait()
					time.Sleep(2 * time.Millisecond)
					synctest.Wait()
					if s := g.States()[0]; s.Used != 0 || s.Waiting != 0 {
						t.Fatalf("round %d: %d slots used, %d wait", round, s.Used, s.Waiting)
					}
					check(t, g)
				}
			})
		})
	}
}

// Five callers wait in a room of five and hang up. The sixth is queued, not
// refused, and it is the only one to be run (kubernetes/kubernetes#119799).
func TestHangUpLeavesTheQueueAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := open(t, class(1, 5))
		busy := admit(t, g, gate.Request{})
		ctx, hangUp := context.WithCancel(context.Background())
		var gone []<-chan answer
		for range 5 {
			gone = append(gone, enter(ctx, g, gate.Request{}))
		}
		if _, refused := g.Enter(context.Background(), gate.Request{}); refused.Reason != reason.QueueFull {
			t.Fatalf("the room should be full: %v", &refused)
		}
		hangUp()
		for _, d := range gone {
			if a := isDecided(t, d); a.why != reason.CallerGone {
				t.Errorf("who hung up was told %v", a.why)
			}
		}
		sixth := enter(context.Background(), g, gate.Request{})
		waits(t, sixth)
		busy.Done()
		a := isDecided(t, sixth)
		if a.why != reason.None {
			t.Fatalf("the sixth was refused: %v", a.why)
		}
		a.permit.Done()
		if s := g.States()[0].Tally.Answered; s[reason.Served] != 2 || s[reason.CallerGone] != 5 {
			t.Errorf("%d served, %d gone; want 2 and 5", s[reason.Served], s[reason.CallerGone])
		}
	})
}

// A caller hangs up, and only then a slot comes free, before the waiting
// goroutine has noticed either. It is not run, and the slot goes to the next.
func TestWhoLeftIsNeverRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := open(t, class(1, 2))
		for range 200 {
			busy := admit(t, g, gate.Request{})
			ctx, hangUp := context.WithCancel(context.Background())
			gone := enter(ctx, g, gate.Request{})
			next := enter(context.Background(), g, gate.Request{})
			hangUp()
			busy.Done()
			if a := isDecided(t, gone); a.why != reason.CallerGone {
				t.Fatalf("who had left was told %v", a.why)
			}
			isDecided(t, next).permit.Done()
		}
	})
}

// hookedContext calls hook when somebody is about to wait for its end.
type hookedContext struct {
	context.Context
	hook func()
}

func (c hookedContext) Done() <-chan struct{} {
	c.hook()
	return c.Context.Done()
}

// The same at the last moment before the goroutine begins to wait, so that it
// finds both the grant and the end of its context.
func TestWhoLeftIsNeverRunThoughGranted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := open(t, class(1, 1))
		for range 100 {
			busy := admit(t, g, gate.Request{})
			ctx, hangUp := context.WithCancel(context.Background())
			once := sync.OnceFunc(func() { hangUp(); busy.Done() })
			if _, refused := g.Enter(hookedContext{ctx, once}, gate.Request{}); refused.Reason != reason.CallerGone {
				t.Fatalf("who had left was told %v", refused.Reason)
			}
		}
	})
}

// A caller that has gone before it asks is not let in, though a slot is free.
func TestWhoIsGoneIsNotLetIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := open(t, class(1, 1))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := g.Acquire(ctx, gate.Request{})
		if !errors.Is(err, reason.CallerGone) || !errors.Is(err, context.Canceled) {
			t.Errorf("slot free: %v", err)
		}
		busy := admit(t, g, gate.Request{})
		if _, err := g.Acquire(ctx, gate.Request{}); !errors.Is(err, reason.CallerGone) {
			t.Errorf("room free: %v", err)
		}
		stays := enter(context.Background(), g, gate.Request{})
		if _, err := g.Acquire(ctx, gate.Request{}); !errors.Is(err, reason.QueueFull) {
			t.Errorf("room full: %v", err)
		}
		busy.Done()
		isDecided(t, stays).permit.Done()
	})
}

// An arrival that displaces a waiter inherits its record in the machine. The
// displaced one is told all the same, at once.
func TestDisplacedIsTold(t *testing.T) {
	for name, when := range map[string]pool.WhenFull{"drop_oldest": pool.DropOldest, "displace": pool.Displace} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := class(1, 1)
				c.Pool.WhenFull, c.Pool.Levels = when, 2
				g := open(t, c)
				busy := admit(t, g, gate.Request{})
				first := enter(context.Background(), g, gate.Request{Importance: 1})
				second := enter(context.Background(), g, gate.Request{Importance: 0})
				if a := isDecided(t, first); a.why != reason.Evicted || a.after != 0 {
					t.Errorf("displaced, and told %v after %v", a.why, a.after)
				}
				busy.Done()
				isDecided(t, second).permit.Done()
			})
		})
	}
}

// A producer that may block is held, and let in or refused at the exact instant.
func TestBlock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := class(1, 1)
		c.Pool.WhenFull, c.Pool.BlockFor = pool.Block, 50*time.Millisecond
		g := open(t, c)
		busy := admit(t, g, gate.Request{})
		room := enter(context.Background(), g, gate.Request{})
		blocked := enter(context.Background(), g, gate.Request{})
		waits(t, blocked)
		time.Sleep(50 * time.Millisecond)
		if a := isDecided(t, blocked); a.why != reason.BlockTimeout || a.after != 50*time.Millisecond {
			t.Errorf("told %v after %v", a.why, a.after)
		}
		blocked = enter(context.Background(), g, gate.Request{})
		busy.Done()
		isDecided(t, room).permit.Done()
		isDecided(t, blocked).permit.Done()
	})
}

// No goroutine is kept for a waiter that has left, however it left.
func TestNoGoroutineStays(t *testing.T) {
	bubble(t, func(t *testing.T) { // a bubble does not end while a goroutine lives
		g := open(t, class(1, 100))
		busy := admit(t, g, gate.Request{})
		ctx, hangUp := context.WithCancel(context.Background())
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { g.Enter(ctx, gate.Request{}) })
			all.Go(func() { g.Enter(context.Background(), gate.Request{Timeout: time.Second}) })
		}
		synctest.Wait()
		if n := waiting(g); n != 100 {
			t.Errorf("%d wait, want 100", n)
		}
		hangUp()
		all.Wait()
		busy.Done()
	})
}
