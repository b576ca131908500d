package gate_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

const ms = time.Millisecond

// The deadline is the smallest that anybody names, and the class's if nobody
// does; the class caps it.
func TestDeadline(t *testing.T) {
	cases := []struct {
		name             string
		class, most      time.Duration
		context, timeout time.Duration // 0: none
		want             time.Duration // until the deadline; 0: refused as expired
	}{
		{name: "nobody names one", want: boundary.DeadlineDefault},
		{name: "the class's", class: 300 * ms, want: 300 * ms},
		{name: "the context's", class: 300 * ms, context: 200 * ms, want: 200 * ms},
		{name: "the timeout", class: 300 * ms, timeout: 100 * ms, want: 100 * ms},
		{name: "the context's is smaller", context: 50 * ms, timeout: 100 * ms, want: 50 * ms},
		{name: "the timeout is smaller", context: 150 * ms, timeout: 100 * ms, want: 100 * ms},
		{name: "longer than the class's default", class: 300 * ms, timeout: time.Second, want: time.Second},
		{name: "capped", most: time.Second, timeout: time.Hour, want: time.Second},
		{name: "the context's has passed", context: -ms},
		{name: "the timeout is negative", timeout: -1},
		{name: "the context's is now", context: 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				cl := class(1, 0)
				cl.Deadline, cl.DeadlineMax = c.class, c.most
				g := open(t, cl)
				ctx := context.Background()
				if c.context != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.context)
					defer cancel()
				}
				if c.context == 1 {
					time.Sleep(1 * time.Nanosecond)
				}
				p, err := g.Acquire(ctx, gate.Request{Timeout: c.timeout})
				if c.want == 0 {
					if !errors.Is(err, reason.Expired) || !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("got %v, want it refused as expired", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer p.Done()
				if p.Remaining() != c.want || time.Until(p.Deadline()) != c.want {
					t.Errorf("due in %v, want %v", p.Remaining(), c.want)
				}
			})
		})
	}
}

// Who waits is told at the instant of its deadline, by either clock, and its
// reason is that it expired, not that it left.
func TestExpiresWhileWaiting(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := open(t, class(1, 10))
		busy := admit(t, g, gate.Request{Timeout: time.Hour})
		for range 100 { // context and timer fire at the same instant: either may be first
			ctx, cancel := context.WithTimeout(context.Background(), 10*ms)
			byContext := enter(ctx, g, gate.Request{})
			byTimeout := enter(context.Background(), g, gate.Request{Timeout: 10 * ms})
			time.Sleep(10*ms - 1)
			waits(t, byContext)
			waits(t, byTimeout)
			time.Sleep(1 * time.Nanosecond)
			for _, d := range []<-chan answer{byContext, byTimeout} {
				if a := isDecided(t, d); a.why != reason.Expired || a.after != 10*ms {
					t.Fatalf("told %v after %v, want expired after 10ms", a.why, a.after)
				}
			}
			cancel()
		}
		if n := g.States()[0].Tally.Answered[reason.CallerGone]; n != 0 {
			t.Errorf("%d accounted as gone", n)
		}
		busy.Done()
	})
}

// OnOverdue is called once, at the deadline, for work that runs then, and not
// for work that has ended, has been abandoned or has begun to answer.
func TestOnOverdue(t *testing.T) {
	cases := []struct {
		name string
		do   func(gate.Permit) // 5 ms before the deadline
		want int
	}{
		{"still running", func(gate.Permit) {}, 1},
		{"done", gate.Permit.Done, 0},
		{"dropped", gate.Permit.Drop, 0},
		{"abandoned", func(p gate.Permit) { p.Abandon(reason.CallerGone) }, 0},
		{"answered", func(p gate.Permit) { p.Answered() }, 0},
	}
	for _, waited := range []bool{false, true} {
		for _, c := range cases {
			name := c.name
			if waited {
				name += ", after a wait"
			}
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					cl := class(1, 1)
					g := openWith(t, gate.Config{Classes: []gate.Class{cl}})
					calls := 0
					start := g.Now()
					r := gate.Request{Timeout: 20 * ms, OnOverdue: func(refused gate.Refusal) {
						calls++
						if at := g.Now().Sub(start); at != 20*ms || refused.Reason != reason.Timeout || refused.RetryAfter <= 0 || refused.Class != "checkout" {
							t.Errorf("told %+v after %v", refused, at)
						}
					}}
					var p gate.Permit
					if waited {
						busy := admit(t, g, gate.Request{})
						d := enter(context.Background(), g, r)
						busy.Done()
						p = isDecided(t, d).permit
					} else {
						p = admit(t, g, r)
					}
					time.Sleep(15 * ms)
					c.do(p)
					time.Sleep(time.Second)
					synctest.Wait()
					if calls != c.want {
						t.Errorf("called %d times, want %d", calls, c.want)
					}
					p.Done()
				})
			})
		}
	}
}

// OnOverdue may call the gate.
func TestOnOverdueCallsTheGate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := open(t, class(1, 1))
		permit := make(chan gate.Permit, 1)
		permit <- admit(t, g, gate.Request{Timeout: ms, OnOverdue: func(gate.Refusal) {
			(<-permit).Done()
			admit(t, g, gate.Request{}).Done()
		}})
		time.Sleep(ms)
		synctest.Wait()
		if n := g.States()[0].Tally.Answered[reason.Served]; n != 1 {
			t.Errorf("%d served, want 1", n)
		}
	})
}

// Work that outlives its caller is counted and keeps its slot, until it ends or
// the class's hard cap has passed. Then its slot is another's, and finishing it
// at last is no bug; finishing it twice is.
func TestAbandoned(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cl := class(1, 1)
		cl.HoldAtMost = time.Second
		g := openWith(t, gate.Config{Classes: []gate.Class{cl}})

		p := admit(t, g, gate.Request{Timeout: 10 * ms})
		next := enter(context.Background(), g, gate.Request{})
		time.Sleep(10 * ms)
		waits(t, next)
		if s := g.States()[0]; s.Tally.Abandoned != 1 || s.Tally.Running != 0 || s.Used != 1 || s.Tally.Answered[reason.Timeout] != 1 {
			t.Errorf("after the deadline: %+v", s)
		}
		p.Done() // before the cap: the slot is free at once
		isDecided(t, next).permit.Done()
	})
}

func TestAbandonedUntilTheHardCap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cl := class(1, 1)
		cl.HoldAtMost = time.Second
		g := openWith(t, gate.Config{Classes: []gate.Class{cl}})

		q := admit(t, g, gate.Request{})
		next := enter(context.Background(), g, gate.Request{})
		q.Abandon(reason.CallerGone) // the cap is sooner than anything the timer is set for
		time.Sleep(time.Second - 1)
		waits(t, next)
		time.Sleep(1 * time.Nanosecond)
		isDecided(t, next).permit.Done()
		q.Done()
		if g.Bugs() != 0 {
			t.Error("finishing after the hard cap counts as a bug")
		}
		q.Done()
		if g.Bugs() != 1 {
			t.Error("finishing twice does not count as a bug")
		}
	})
}

// An answer that has begun has met its deadline, however long it flows; one that
// begins too late is told so, as OnOverdue is.
func TestAnswered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := open(t, class(2, 0))
		overdue := 0
		r := gate.Request{Timeout: 10 * ms, OnOverdue: func(gate.Refusal) { overdue++ }}
		p := admit(t, g, r)
		time.Sleep(10*ms - 1)
		for range 2 {
			if !p.Answered() {
				t.Error("in time, and told late")
			}
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := g.States()[0].Tally; s.Running != 1 || overdue != 0 {
			t.Errorf("a stream was cut: %+v, overdue %d", s, overdue)
		}
		p.Done()

		q := admit(t, g, r)
		time.Sleep(10 * ms)
		synctest.Wait()
		if q.Answered() || overdue != 1 {
			t.Errorf("late, and told in time; overdue %d", overdue)
		}
		q.Done()
		s := g.States()[0].Tally.Answered
		if s[reason.Served] != 1 || s[reason.Timeout] != 1 {
			t.Errorf("account %v", s)
		}
	})
}
