package gate_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Sixteen goroutines take two slots for next to no time, over and over. In a
// bubble a lost wake-up cannot hide behind luck: once everybody waits, time runs
// on to the waiter's deadline, and it is refused.
func TestNoLostWakeUp(t *testing.T) {
	const limit, goroutines = 2, 16
	acquisitions := 320_000
	if testing.Short() {
		acquisitions /= 10
	}
	bubble(t, func(t *testing.T) {
		g := open(t, class(limit, goroutines))
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for range acquisitions / goroutines {
					p, refused := g.Enter(context.Background(), gate.Request{Timeout: 2 * time.Second})
					if refused.Reason != reason.None {
						t.Errorf("refused: %v", &refused)
						return
					}
					runtime.Gosched()
					p.Done()
				}
			})
		}
		all.Wait()
		if s := g.States()[0].Tally; s.Answered[reason.Served] != int64(acquisitions) {
			t.Errorf("%d served, want %d", s.Answered[reason.Served], acquisitions)
		}
	})
}

// The same while the number of slots changes all the time. After every change,
// and at every look in between, nobody waits beside a free slot (Check finds it).
func TestNoWaiterBesideAFreeSlot(t *testing.T) {
	const goroutines, changes = 16, 1000
	bubble(t, func(t *testing.T) {
		g := open(t, class(1, goroutines))
		var stop atomic.Bool
		var all sync.WaitGroup
		for i := range goroutines {
			all.Go(func() {
				for !stop.Load() {
					p, refused := g.Enter(context.Background(), gate.Request{Tenant: fmt.Sprint(i % 3), Timeout: time.Minute})
					if refused.Reason != reason.None {
						t.Errorf("refused: %v", &refused)
						return
					}
					runtime.Gosched()
					p.Done()
				}
			})
		}
		for i := range changes {
			if err := g.Reconfigure(gate.Config{Classes: []gate.Class{class(1+i*7%6, goroutines)}, Strict: true}); err != nil {
				t.Error(err)
			}
			check(t, g)
			runtime.Gosched()
			check(t, g)
		}
		stop.Store(true)
		all.Wait()
	})
}

// Three classes under one roof, with callers who give up at all times: a slot
// is charged to the class that was given it, and no grant is orphaned.
func TestGrantsAreChargedToTheirClass(t *testing.T) {
	bubble(t, func(t *testing.T) {
		classes := []gate.Class{class(1, 5), class(2, 5), class(3, 5)}
		for i := range classes {
			classes[i].Name = fmt.Sprint("class", i)
			classes[i].Pool.Borrow = 2
		}
		g := open(t, classes...)
		var granted [3]atomic.Int64
		var all sync.WaitGroup
		for i := range 3000 {
			all.Go(func() {
				time.Sleep(time.Duration(i%977) * ms / 10)
				c := i % 3
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%13)*ms/2)
				defer cancel()
				p, refused := g.Enter(ctx, gate.Request{Class: c, Tenant: fmt.Sprint(i % 5)})
				if refused.Reason != reason.None {
					return
				}
				granted[c].Add(1)
				time.Sleep(time.Duration(i%7) * ms / 10)
				p.Finish(reason.Served)
			})
		}
		all.Wait()
		for i, s := range g.States() {
			ended := s.Tally.Answered[reason.Served] + s.Tally.Answered[reason.Timeout] // late is timed out
			if s.Used != 0 || s.Tally.Offered != 1000 || ended != granted[i].Load() || ended == 0 || ended == 1000 {
				t.Errorf("%s: %d slots used, %d granted, account %+v", s.Name, s.Used, granted[i].Load(), s.Tally)
			}
		}
	})
}

// A thousand reconfigurations under load, classes coming and going: nothing is
// lost, nothing is cut, every account closes.
func TestReconfigureUnderLoad(t *testing.T) {
	bubble(t, func(t *testing.T) {
		config := func(i int) gate.Config {
			cfg := gate.Config{Strict: true, Classes: []gate.Class{class(1+i%4, 1+i%7)}}
			if i%5 > 0 {
				extra := class(1+i%2, 3)
				extra.Name = fmt.Sprint("extra", i%3)
				cfg.Classes = append(cfg.Classes, extra)
			}
			return cfg
		}
		g := openWith(t, config(1))
		var all sync.WaitGroup
		var stop atomic.Bool
		for i := range 12 {
			all.Go(func() {
				for n := 0; !stop.Load(); n++ {
					classes := len(g.States())
					p, refused := g.Enter(context.Background(), gate.Request{Class: (i + n) % classes, Tenant: fmt.Sprint(i % 4), Timeout: 20 * ms})
					if refused.Reason == reason.None {
						time.Sleep(time.Duration(n%5) * ms)
						p.Done()
						continue
					}
					time.Sleep(ms)
				}
			})
		}
		for i := range 1000 {
			if err := g.Reconfigure(config(i)); err != nil {
				t.Fatal(err)
			}
			check(t, g)
			time.Sleep(ms / 3)
		}
		if err := g.Reconfigure(gate.Config{}); err == nil {
			t.Error("a configuration without classes was taken")
		}
		stop.Store(true)
		all.Wait()
		if g.States()[0].Tally.Answered[reason.Served] == 0 {
			t.Error("nothing was served")
		}
	})
}
