package call

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Whatever happens in whatever order, late, twice or not at all, what doc.go promises
// holds.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := rapid.IntRange(1, 200).Draw(t, "facts")
		play(t, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }, func() bool { facts--; return facts >= 0 })
	})
}

// FuzzHistory takes its history from bytes.
func FuzzHistory(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("a call, a failure, a pause, a hedge, and nobody who waits for it"))
	f.Add([]byte{1, 2, 3, 1, 0, 0, 1, 1, 9, 0, 0, 0, 3, 0, 1, 3, 7, 5, 1, 0, 4, 0, 0, 2, 0, 0, 1, 3, 3, 200, 4, 1, 90, 2, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		pick := func(n int) int {
			if len(data) == 0 {
				return 0
			}
			b := int(data[0])
			data = data[1:]
			return b % n
		}
		play(t, pick, func() bool { return len(data) > 0 })
	})
}

// history is a naive account of what a Dependency has said, against which each of
// its steps is held.
type history struct {
	t interface {
		Fatalf(string, ...any)
	}
	d     *Dependency
	p     Policy
	now   unit.Instant
	calls []*life
	// When firsts, retries and hedges left.
	firsts, retries, hedges []unit.Instant
}

// life is what is known of one call.
type life struct {
	Call
	deadline    unit.Instant
	next        unit.Instant
	over        bool
	made        int
	tries       int
	hedged      bool         // in this try
	flying      map[int]bool // true: a hedge
	left        map[int]bool // Sent was reported
	mayRunTwice bool
}

func play(t interface{ Fatalf(string, ...any) }, pick func(int) int, more func() bool) {
	pausing := []time.Duration{0, 5 * time.Millisecond, 300 * time.Millisecond}
	p := Policy{
		Timeout: pausing[pick(3)], Retries: pick(4), Reserve: time.Duration(pick(2)) * time.Millisecond,
		Backoff: Backoff{Base: pausing[pick(3)], Max: time.Second, Jitter: Jitter(pick(4))},
		Budget:  Budget{Percent: 20, Floor: 1}, Hedge: Hedge{Budget: Budget{Percent: 20, Floor: 1}},
	}
	if p.Hedge.After = pausing[pick(3)]; pick(4) == 0 {
		p.Hedge.Percentile = 50
	}
	if pick(2) == 0 {
		p.Breaker = Breaker{Failures: 50, MinCalls: 4, Slow: 60, SlowAfter: 10 * time.Millisecond, OpenFor: 20 * time.Millisecond, ProbeTimeout: time.Second}
	}
	if pick(2) == 0 {
		p.Throttle = Throttle{K: 2}
	}
	d, err := New(p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	h := &history{t: t, d: d, p: d.policy}
	tells := pick(2) == 0 // whether the driver reports Sent
	for more() {
		if h.fact(pick, tells); len(h.calls) > 40 {
			break
		}
	}
	h.settle()
}

// fact lets something happen.
func (h *history) fact(pick func(int) int, tells bool) {
	kind := pick(8)
	if kind == 0 || len(h.calls) == 0 {
		h.begin(Request{
			Deadline:   h.now.Add([]time.Duration{0, time.Millisecond, 20 * time.Millisecond, time.Minute}[pick(4)]),
			Idempotent: pick(2) == 0, Keyed: pick(4) == 0, Fixed: pick(8) == 0, Dice: uint64(pick(3)),
		})
		return
	}
	c := h.calls[len(h.calls)-1-pick(len(h.calls))]
	attempt := 1 + pick(c.made+1) // the last one is none of its attempts
	if c.flying != nil && pick(4) > 0 {
		for n := range c.made { // rather one in flight
			if _, ok := c.flying[n+1]; ok {
				attempt = n + 1
			}
		}
	}
	switch kind {
	case 1: // a clock that steps back is no excuse
		h.now = h.now.Add([]time.Duration{-time.Millisecond, time.Millisecond, 7 * time.Millisecond, 3 * time.Second}[pick(4)])
	case 2:
		if tells {
			if hedge, ok := c.flying[attempt]; ok && !c.left[attempt] {
				h.leave(c, attempt, hedge)
			}
			h.d.Sent(h.now, &c.Call, uint16(attempt))
		}
	case 3, 4:
		o := Outcome{Result: Result(pick(6)), Never: pick(8) == 0, Always: pick(8) == 0}
		if pick(4) == 0 {
			o.After = time.Duration(pick(50)) * time.Millisecond
		}
		was := c.over
		_, flew := c.flying[attempt]
		if flew && !c.left[attempt] && o.Result != Unsent && o.Result != Neutral {
			h.leave(c, attempt, c.flying[attempt])
		}
		delete(c.flying, attempt)
		s := h.d.Ended(h.now, &c.Call, uint16(attempt), o)
		if !flew && !was && (s.Do != Nothing || s.Cancel != Set{}) {
			h.t.Fatalf("attempt %d is not in flight, and its end is %+v", attempt, s)
		}
		h.take(c, s)
	case 5, 6:
		if c.next != unit.Never && pick(3) > 0 { // on time, or late; else early
			h.now = max(h.now, c.next)
		}
		h.take(c, h.d.Passed(h.now, &c.Call))
	case 7:
		if pick(4) == 0 {
			if err := h.d.Reconfigure(h.now, h.p); err != nil {
				h.t.Fatalf("%v", err)
			}
			return
		}
		s := h.d.Left(h.now, &c.Call)
		if !c.over && s.Do != GiveUp {
			h.t.Fatalf("the caller left and the step is %+v", s)
		}
		h.take(c, s)
	}
}

func (h *history) begin(r Request) {
	c := &life{deadline: r.Deadline, flying: map[int]bool{}, left: map[int]bool{}, mayRunTwice: (r.Idempotent || r.Keyed) && !r.Fixed}
	h.calls = append(h.calls, c)
	s := h.d.Begin(h.now, &c.Call, r)
	if s.Do != Send && s.Do != GiveUp {
		h.t.Fatalf("a call begins with %+v", s)
	}
	h.take(c, s)
}

// leave notes that an attempt left.
func (h *history) leave(c *life, attempt int, hedge bool) {
	c.left[attempt] = true
	switch {
	case hedge:
		h.hedges = append(h.hedges, h.now)
		h.bounded("hedges", h.hedges)
	case attempt > 1:
		h.retries = append(h.retries, h.now)
		h.bounded("retries", h.retries)
	default:
		h.firsts = append(h.firsts, h.now)
	}
}

// bounded checks that no more have left than the floor, what of it has come back
// since, and a fifth of the firsts. It counts over the whole history: what leaves now
// may have been granted long ago, by a driver that was slow to send it.
func (h *history) bounded(what string, left []unit.Instant) {
	granted := 1 + int(time.Duration(h.now)/BudgetFloorEvery) + len(h.firsts)/5
	if len(left) > granted {
		h.t.Fatalf("%d %s have left, with a budget of %d", len(left), what, granted)
	}
}

// take holds a step against what was promised, and does what it says.
func (h *history) take(c *life, s *Step) {
	if s.Next < h.now && s.Next != c.next {
		h.t.Fatalf("next is %v and it is %v", s.Next, h.now)
	}
	if c.over {
		if s.Do != Nothing || s.Cancel != (Set{}) || s.Next != unit.Never && s.Next != c.next {
			h.t.Fatalf("the call was over, and is told %+v", s)
		}
		return
	}
	for _, n := range s.Cancel {
		if n == 0 {
			continue
		}
		if _, ok := c.flying[int(n)]; !ok || s.Do == Answer && n == s.Attempt {
			h.t.Fatalf("attempt %d is cut off: not in flight, or it has won: %+v", n, s)
		}
		if hedge := c.flying[int(n)]; !c.left[int(n)] && !h.d.tells { // it is taken to have left
			h.leave(c, int(n), hedge)
		}
		delete(c.flying, int(n))
	}
	switch s.Do {
	case Send:
		h.send(c, s)
	case Answer, GiveUp:
		if len(c.flying) > 0 {
			h.t.Fatalf("the call is over and %v forgotten in flight", c.flying)
		}
		if c.over = true; !c.Over() {
			h.t.Fatalf("the call does not know that it is over")
		}
		if s.Do == GiveUp && s.Reason == 0 {
			h.t.Fatalf("given up for no reason")
		}
	}
	c.next = s.Next
	if c.over != (s.Next == unit.Never) {
		h.t.Fatalf("over: %v, and next is %v", c.over, s.Next)
	}
}

func (h *history) send(c *life, s *Step) {
	c.made++
	_, beside := c.flying[int(s.Attempt)]
	switch {
	case int(s.Attempt) != c.made || beside:
		h.t.Fatalf("attempt %d is sent after %d", s.Attempt, c.made-1)
	case h.now >= c.deadline.Add(-h.p.Reserve):
		h.t.Fatalf("sent at %v, and the deadline is %v", h.now, c.deadline)
	case s.Limit > c.deadline.Add(-h.p.Reserve) || s.Limit <= h.now || h.p.Timeout > 0 && s.Limit > h.now.Add(h.p.Timeout):
		h.t.Fatalf("sent at %v until %v, deadline %v, timeout %v", h.now, s.Limit, c.deadline, h.p.Timeout)
	}
	if s.Hedge {
		if c.hedged || len(c.flying) != 1 || !c.mayRunTwice {
			h.t.Fatalf("a hedge, with %d in flight and one before: %v", len(c.flying), c.hedged)
		}
		c.hedged = true
	} else {
		if c.tries++; c.tries > 1+h.p.Retries || len(c.flying) != 0 {
			h.t.Fatalf("try %d of %d with %d in flight", c.tries, 1+h.p.Retries, len(c.flying))
		}
		c.hedged = false
	}
	c.flying[int(s.Attempt)] = s.Hedge
}

// settle ends the history: nothing ends any more, and every call is over by its
// deadline, in no more steps than it has tries and hedges; and nothing is held.
func (h *history) settle() {
	for _, c := range h.calls {
		for steps := 0; !c.over; steps++ {
			if steps > 6*(1+h.p.Retries) {
				h.t.Fatalf("the call is not over after %d wake-ups", steps)
			}
			h.now = max(h.now, c.next)
			h.take(c, h.d.Passed(h.now, &c.Call))
		}
	}
	if r, g := h.d.retries.reserved, h.d.hedges.reserved; r != 0 || g != 0 {
		h.t.Fatalf("%d retries and %d hedges stay reserved", r, g)
	}
	s := h.d.State(h.now)
	if got := fmt.Sprint(s.Calls, s.Attempts); got != fmt.Sprint(len(h.calls), h.sent()) {
		h.t.Fatalf("counted %s calls and attempts, there were %d and %d", got, len(h.calls), h.sent())
	}
}

func (h *history) sent() (n int) {
	for _, c := range h.calls {
		n += c.made
	}
	return n
}
