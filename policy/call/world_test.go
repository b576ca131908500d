package call

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/agenda"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A world drives a Dependency in virtual time: calls begin, attempts take as long as
// serve says and come to what it says, whether anybody still waits or not. It
// holds every step against what the driver was promised.
type world struct {
	t      testing.TB
	d      *Dependency
	now    unit.Instant
	due    agenda.Agenda[func()]
	dice   chance.Source
	serve  func(now unit.Instant, a sent) (time.Duration, Outcome)
	calls  []*told
	log    []sent // every attempt that left
	flying int    // at the dependency, cut off ones too
	peak   int
}

// sent is an attempt that left.
type sent struct {
	at     unit.Instant
	call   int
	number int
	hedge  bool
	limit  unit.Instant
}

// told is a call and what its caller was told.
type told struct {
	Call
	w        *world
	id       int
	deadline unit.Instant
	began    unit.Instant
	ended    unit.Instant
	do       Do
	reason   reason.Reason
	timer    agenda.Entry[func()]
	flying   map[uint16]bool
	after    func() // once it has ended
}

func newWorld(t testing.TB, p Policy, serve func(unit.Instant, sent) (time.Duration, Outcome)) *world {
	return &world{t: t, d: mustNew(t, p), dice: chance.New(1), serve: serve}
}

// at has something done at an instant.
func (w *world) at(at unit.Instant, do func()) {
	w.due.Set(&agenda.Entry[func()]{Item: do}, at)
}

// call begins a call now.
func (w *world) call(r Request) *told {
	c := &told{w: w, id: len(w.calls), deadline: r.Deadline, began: w.now, flying: map[uint16]bool{}}
	c.timer.Item = func() { c.step(w.d.Passed(w.now, &c.Call)) }
	w.calls = append(w.calls, c)
	c.step(w.d.Begin(w.now, &c.Call, r))
	return c
}

// step does what a step says.
func (c *told) step(s *Step) {
	w := c.w
	if c.do != Nothing && (s.Do != Nothing || s.Cancel != Set{}) {
		w.t.Fatalf("call %d was over and is told %+v", c.id, s)
	}
	if s.Next < w.now {
		w.t.Fatalf("call %d: next at %v, it is %v", c.id, s.Next, w.now)
	}
	for _, n := range s.Cancel {
		if n == 0 {
			continue
		}
		if !c.flying[n] || s.Do == Answer && n == s.Attempt {
			w.t.Fatalf("call %d: attempt %d is cut off, which is not in flight, or has won", c.id, n)
		}
		delete(c.flying, n)
	}
	switch s.Do {
	case Send:
		w.send(c, s)
	case Answer, GiveUp:
		if len(c.flying) > 0 {
			w.t.Fatalf("call %d ends with %v in flight", c.id, c.flying)
		}
		c.do, c.reason, c.ended = s.Do, s.Reason, w.now
		if c.after != nil {
			c.after()
		}
	}
	if c.do == Nothing {
		w.due.Set(&c.timer, s.Next)
	} else {
		w.due.Strike(&c.timer)
	}
}

func (w *world) send(c *told, s *Step) {
	if w.now >= c.deadline {
		w.t.Fatalf("call %d is sent at %v, its deadline was %v", c.id, w.now, c.deadline)
	}
	n := s.Attempt
	c.flying[n] = true
	w.d.Sent(w.now, &c.Call, n)
	w.flying++
	w.peak = max(w.peak, w.flying)
	a := sent{at: w.now, call: c.id, number: int(n), hedge: s.Hedge, limit: s.Limit}
	w.log = append(w.log, a)
	takes, o := w.serve(w.now, a)
	if takes < 0 { // for ever
		return
	}
	w.at(w.now.Add(takes), func() {
		w.flying--
		delete(c.flying, n)
		c.step(w.d.Ended(w.now, &c.Call, n, o))
	})
}

// leave has the caller of c hang up at an instant.
func (w *world) leave(c *told, at unit.Instant) {
	w.at(at, func() {
		if c.do == Nothing {
			c.step(w.d.Left(w.now, &c.Call))
		}
	})
}

// run lets everything due up to an instant happen, in order.
func (w *world) run(until unit.Instant) {
	for {
		at := w.due.Next()
		e := w.due.Pop(until)
		if e == nil {
			break
		}
		w.now = at
		e.Item()
	}
	w.now = until
}

// count returns how many of the attempts that left are as asked.
func (w *world) count(is func(sent) bool) int {
	n := 0
	for _, a := range w.log {
		if is(a) {
			n++
		}
	}
	return n
}

// ends returns how many calls ended in the span, and how many of them were
// answered.
func (w *world) ends(from, to unit.Instant) (all, answered int) {
	for _, c := range w.calls {
		if c.do != Nothing && c.ended >= from && c.ended < to {
			all++
			if c.do == Answer {
				answered++
			}
		}
	}
	return all, answered
}

// answers is a dependency that always answers like this.
func answers(takes time.Duration, r Result) func(unit.Instant, sent) (time.Duration, Outcome) {
	return func(unit.Instant, sent) (time.Duration, Outcome) { return takes, Outcome{Result: r} }
}

func milli(n int) unit.Instant { return unit.Instant(n) * unit.Instant(time.Millisecond) }

const second = unit.Instant(time.Second)
