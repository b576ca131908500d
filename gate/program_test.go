package gate_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
)

// step is one request of a random program.
type step struct {
	Class, Importance         int
	Tenant                    string
	Pause, Hold               time.Duration
	Timeout, Context, HangsUp time.Duration // 0: none
	Answers, Abandons, Panics bool
	Ends                      reason.Reason
}

// program is what many goroutines do at the same time, and how the gate is
// reconfigured meanwhile.
type program struct {
	Classes    []gate.Class
	Goroutines [][]step
	Slots      []int // of the first class, one after the other
}

func drawProgram(t *rapid.T) program {
	short := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 20).Draw(t, "ms")) * ms
	})
	maybe := rapid.OneOf(rapid.Just(time.Duration(0)), rapid.Map(short, func(d time.Duration) time.Duration { return d + 1 }))
	oneStep := rapid.Custom(func(t *rapid.T) step {
		return step{
			Class:      rapid.IntRange(0, 1).Draw(t, "class"),
			Importance: rapid.IntRange(0, 2).Draw(t, "importance"),
			Tenant:     rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "tenant"),
			Pause:      short.Draw(t, "pause"), Hold: short.Draw(t, "hold"),
			Timeout: maybe.Draw(t, "timeout"), Context: maybe.Draw(t, "context"), HangsUp: maybe.Draw(t, "hangs up"),
			Answers: rapid.Bool().Draw(t, "answers"), Abandons: rapid.Bool().Draw(t, "abandons"), Panics: rapid.Bool().Draw(t, "panics"),
			Ends: rapid.SampledFrom([]reason.Reason{reason.None, reason.Served, reason.Failed, reason.Unknown}).Draw(t, "ends"),
		}
	})
	classes := make([]gate.Class, 2)
	for i := range classes {
		c := class(rapid.IntRange(1, 4).Draw(t, "slots"), rapid.IntRange(0, 4).Draw(t, "room"))
		c.Name = fmt.Sprint("class", i)
		c.HoldAtMost = 15 * ms
		c.Pool.Borrow = rapid.IntRange(0, 2).Draw(t, "borrow")
		c.Pool.Order = pool.Order(rapid.IntRange(0, 2).Draw(t, "order"))
		c.Pool.WhenFull = pool.WhenFull(rapid.IntRange(0, 4).Draw(t, "when full"))
		c.Pool.BlockFor, c.Pool.Levels = 5*ms, 3
		c.Pool.Tenants.Policy = fair.Policy(rapid.IntRange(0, 4).Draw(t, "policy"))
		c.Pool.Tenants.Queue = rapid.IntRange(0, 2).Draw(t, "queue")
		classes[i] = c
	}
	return program{
		Classes:    classes,
		Goroutines: rapid.SliceOfN(rapid.SliceOfN(oneStep, 1, 6), 1, 16).Draw(t, "goroutines"),
		Slots:      rapid.SliceOfN(rapid.IntRange(1, 5), 0, 5).Draw(t, "slots"),
	}
}

// Whatever many callers do at the same time: all accounts close at every look,
// nobody waits beside a free slot, no invariant of the machine is broken, a
// deadline is kept to the nanosecond, and in the end the gate is empty.
func TestPrograms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProgram(rt)
		var err error
		synctest.Test(t, func(*testing.T) { err = p.run() })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// pause lets the bubble's time run on.
func pause(d time.Duration) { <-time.After(d) }

func (p program) run() error {
	g, err := gate.New(gate.Config{Classes: p.Classes, Strict: true})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var faults []error
	fault := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil && len(faults) < 5 {
			faults = append(faults, err)
		}
	}
	var all sync.WaitGroup
	for _, steps := range p.Goroutines {
		all.Go(func() {
			for _, s := range steps {
				pause(s.Pause)
				fault(s.run(g))
				fault(g.Check())
			}
		})
	}
	for _, slots := range p.Slots {
		pause(7 * ms)
		p.Classes[0].Pool.Slots = slots
		fault(g.Reconfigure(gate.Config{Classes: append([]gate.Class(nil), p.Classes...), Strict: true}))
		fault(g.Check())
	}
	all.Wait()
	pause(time.Second)
	for _, s := range g.States() {
		if s.Used+s.Waiting+s.Blocked != 0 {
			fault(fmt.Errorf("%s is not empty at the end: %+v", s.Name, s))
		}
	}
	if g.Bugs() != 0 {
		fault(fmt.Errorf("%d bugs", g.Bugs()))
	}
	return errors.Join(append(faults, g.Check())...)
}

func (s step) run(g *gate.Gate) (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	due := 30 * time.Second
	if s.Context > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, s.Context)
		defer stop()
		due = min(due, s.Context)
	}
	if s.HangsUp > 0 {
		defer time.AfterFunc(s.HangsUp, cancel).Stop()
	}
	if s.Timeout > 0 {
		due = min(due, s.Timeout)
	}
	start, overdue := time.Now(), make(chan time.Duration, 2)
	p, refused := g.Enter(ctx, gate.Request{
		Class: s.Class, Tenant: s.Tenant, Importance: s.Importance, Timeout: s.Timeout,
		OnOverdue: func(gate.Refusal) { overdue <- time.Since(start) },
	})
	if waited := time.Since(start); waited > due || s.HangsUp > 0 && waited > s.HangsUp {
		return fmt.Errorf("%+v: decided after %v", s, waited)
	}
	if refused.Reason != reason.None {
		return nil
	}
	inTime := false
	func() {
		defer func() { recover(); p.Finish(s.Ends) }()
		if s.Answers {
			inTime = p.Answered()
		}
		pause(s.Hold)
		if s.Abandons {
			p.Abandon(reason.Timeout)
		}
		pause(s.Hold)
		if s.Panics {
			panic("boom")
		}
	}()
	switch len(overdue) {
	case 0:
	case 1:
		if at := <-overdue; at != due || inTime {
			return fmt.Errorf("%+v: overdue after %v, due after %v, answered in time: %v", s, at, due, inTime)
		}
	default:
		return fmt.Errorf("%+v: told twice", s)
	}
	return nil
}
