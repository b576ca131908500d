package script_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// runLive plays the script through the gate, in a bubble whose clock stands
// still while anybody has something to do. The bubble fails the test if a
// goroutine is left behind.
func runLive(t *testing.T, s *script) []string {
	t.Helper()
	var tape tape
	synctest.Test(t, func(t *testing.T) {
		g, err := gate.New(s.config, gate.WithTap(tape.tap), gate.WithReserver(newBook()))
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for _, r := range s.requests {
			all.Go(func() {
				time.Sleep(r.at)
				live{g, s, r, s.calls[r.class]}.play()
			})
		}
		for _, c := range s.changes {
			all.Go(func() {
				time.Sleep(c.at)
				if c.hand != nil {
					g.Operate(g.Class(c.hand.Class), c.hand.Mode, c.hand.For)
				} else if c.press != nil {
					g.Press(*c.press)
				} else if !c.drain {
					must(0, g.Reconfigure(c.config))
				} else if err := g.Drain(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		time.Sleep(long) // for what the gate does by itself
		if err := g.Check(); err != nil || g.Bugs() > 0 {
			t.Errorf("%d bugs, %v", g.Bugs(), err)
		}
		tape.shadows(g.States())
		g.Close()
	})
	return tape.lines
}

// live is one request on its way through the gate.
type live struct {
	*gate.Gate
	*script
	request
	call
}

func (l live) play() {
	ctx, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	if l.leaves > 0 {
		time.AfterFunc(l.leaves, hangUp)
	}
	overdue := make(chan struct{})
	p, err := l.Acquire(ctx, gate.Request{
		Class: l.request.class, Tenant: l.tenant, Importance: l.importance, Timeout: l.request.deadline, Cost: l.cost, Bytes: l.bytes, Session: l.session, Ask: l.ask(),
		OnOverdue: func(gate.Refusal) { close(overdue) },
	})
	if err != nil {
		return
	}
	if err := p.Start(ctx); err != nil {
		panic(err)
	}
	if l.startDeadline {
		p.Answered()
	}
	ends := time.NewTimer(l.takes)
	defer ends.Stop()
	var timesOut <-chan time.Time
	if l.timeout > 0 && p.Governed() {
		timer := time.NewTimer(l.timeout)
		defer timer.Stop()
		timesOut = timer.C
	}
	select {
	case <-ends.C:
		p.Done()
		return
	case <-overdue:
		if l.notices {
			p.Finish(reason.Timeout)
			return
		}
	case <-timesOut:
		if l.notices {
			p.Finish(reason.Timeout)
			return
		}
		p.Abandon(reason.Timeout)
	case <-ctx.Done():
		if l.notices {
			p.Finish(reason.CallerGone)
			return
		}
		p.Abandon(reason.CallerGone)
	}
	<-ends.C
	p.Done()
}
