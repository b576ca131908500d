package boundary

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// twoClasses are checkout and analytics on one upstream, of so many slots each.
func twoClasses(checkout, analytics, borrow, bound int) Config {
	class := func(name string, slots, borrow int) Class {
		return Class{Name: name, AdmitHopeless: true, Deadline: time.Minute, Pool: pool.Config{Slots: slots, Borrow: borrow, Bound: bound, Order: pool.FIFO}}
	}
	return Config{Strict: true, Classes: []Class{class("checkout", checkout, 0), class("analytics", analytics, borrow)}}
}

func apart(checkout, analytics, borrow, bound int) *Machine {
	return must(New(twoClasses(checkout, analytics, borrow, bound)))
}

const sec = unit.Instant(time.Second)

// The definition, case by case: analytics (class 1) is offered more than it may
// start, beside three slots of checkout (class 0).
func TestIdleWhileRefusing(t *testing.T) {
	for _, c := range []struct {
		name         string
		machine      *Machine
		play         func(m *Machine, out *Effects)
		class, whole time.Duration // after ten seconds: of analytics, of the resource
	}{
		{"nobody is there", apart(3, 1, 0, 1), func(*Machine, *Effects) {}, 0, 0},
		{"nobody else wants what is idle", apart(3, 1, 0, 1), func(m *Machine, out *Effects) {
			m.Offer(0, &Request{Class: 1}, out)
		}, 0, 0},
		{"one waits beside three idle slots for ten seconds", apart(3, 1, 0, 1), func(m *Machine, out *Effects) {
			m.Offer(0, &Request{Class: 1}, out)
			m.Offer(0, &Request{Class: 1}, out)
		}, 30 * time.Second, 30 * time.Second},
		{"many do: the slots are idle once", apart(3, 1, 0, 5), func(m *Machine, out *Effects) {
			for range 6 {
				m.Offer(0, &Request{Class: 1}, out)
			}
		}, 30 * time.Second, 30 * time.Second},
		{"from the moment of waiting to that of starting", apart(3, 1, 0, 1), func(m *Machine, out *Effects) {
			first := m.Offer(0, &Request{Class: 1}, out).Ticket
			m.Offer(2*sec, &Request{Class: 1}, out)
			m.Done(5*sec, first, Outcome{Reason: reason.Served}, out)
		}, 9 * time.Second, 9 * time.Second},
		{"checkout takes two of the three meanwhile", apart(3, 1, 0, 1), func(m *Machine, out *Effects) {
			m.Offer(0, &Request{Class: 1}, out)
			m.Offer(0, &Request{Class: 1}, out)
			m.Offer(4*sec, &Request{}, out)
			m.Offer(4*sec, &Request{}, out)
		}, 18 * time.Second, 18 * time.Second},
		{"nothing is idle", apart(1, 1, 0, 1), func(m *Machine, out *Effects) {
			m.Offer(0, &Request{}, out)
			m.Offer(0, &Request{Class: 1}, out)
			m.Offer(0, &Request{Class: 1}, out)
		}, 0, 0},
		{"both want and none is idle", apart(1, 1, 0, 1), func(m *Machine, out *Effects) {
			for i := range 4 {
				m.Offer(0, &Request{Class: i % 2}, out)
			}
		}, 0, 0},
		{"what it may borrow is not idle", apart(3, 1, 3, 1), func(m *Machine, out *Effects) {
			for range 5 {
				m.Offer(0, &Request{Class: 1}, out)
			}
		}, 0, 0},
		{"two of three it may borrow", apart(3, 1, 2, 1), func(m *Machine, out *Effects) {
			for range 4 {
				m.Offer(0, &Request{Class: 1}, out)
			}
		}, 10 * time.Second, 10 * time.Second},
		{"the last of its callers leaves", apart(3, 1, 0, 1), func(m *Machine, out *Effects) {
			m.Offer(0, &Request{Class: 1}, out)
			w := m.Offer(0, &Request{Class: 1}, out).Ticket
			m.Leave(sec, w, out)
		}, 3 * time.Second, 3 * time.Second},
		{"refused, with nobody waiting, until it starts another", refusing(), func(m *Machine, out *Effects) {
			first := m.Offer(0, &Request{Class: 1}, out).Ticket
			if v := m.Offer(sec, &Request{Class: 1, Deadline: 1100 * unit.Instant(ms)}, out); v.Reason != reason.Infeasible {
				panic(v)
			}
			m.Done(3*sec, first, Outcome{Reason: reason.Served}, out)
		}, 6 * time.Second, 6 * time.Second},
		{"refused for what no slot would have changed", apart(3, 1, 0, 1), func(m *Machine, out *Effects) {
			m.Offer(0, &Request{Class: 1}, out)
			m.Operate(0, 1, Operation{RefuseAll, 20 * sec}, out)
			m.Offer(sec, &Request{Class: 1}, out)
			m.Offer(sec, &Request{Class: 1, Deadline: 1}, out)
			m.Drain(sec, out)
			m.Offer(sec, &Request{Class: 1}, out)
		}, 0, 0},
		{"its slots are taken away, and given back", apart(3, 1, 0, 1), func(m *Machine, out *Effects) {
			m.Offer(0, &Request{Class: 1}, out)
			m.Offer(0, &Request{Class: 1}, out)
			reconfigure(m, 2*sec, 3, 2, out) // it starts at once
			m.Offer(3*sec, &Request{Class: 1}, out)
			reconfigure(m, 4*sec, 5, 2, out) // two more are idle
			reconfigure(m, 5*sec, 2, 2, out)
		}, (2*3 + 3 + 5 + 5*2) * time.Second, (2*3 + 3 + 5 + 5*2) * time.Second},
	} {
		var out Effects
		c.play(c.machine, &out)
		c.machine.Advance(9*sec, &out) // and at the end one asks without telling it of the time
		if err := c.machine.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := c.machine.IdleWhileRefusing(1, 10*sec); got != c.class {
			t.Errorf("%s: %v of analytics, want %v", c.name, got, c.class)
		}
		if got := c.machine.IdleWhileRefused(10 * sec); got != c.whole {
			t.Errorf("%s: %v of the resource, want %v", c.name, got, c.whole)
		}
	}
}

// refusing is apart(3, 1, 0, 1) whose analytics turns away what cannot be done in time.
func refusing() *Machine {
	m := apart(3, 1, 0, 1)
	m.classes[1].AdmitHopeless = false
	for range 16 { // so many measurements count
		m.classes[1].Ended(time.Second, true)
	}
	return m
}

func reconfigure(m *Machine, at unit.Instant, checkout, analytics int, out *Effects) {
	if err := m.Reconfigure(at, twoClasses(checkout, analytics, 0, 1), out); err != nil {
		panic(err)
	}
}

// Whatever happens, the sums are what adds up when somebody looks at all classes
// after every event: by the definition, over every stretch of time in between.
func TestIdleWhileRefusingAddsUp(t *testing.T) {
	idled := 0
	rapid.Check(t, func(t *rapid.T) {
		upTo3 := func(label string) int { return rapid.IntRange(0, 3).Draw(t, label) }
		var classes []Class
		for _, name := range []string{"a", "b", "c"} {
			classes = append(classes, Class{
				Name: name, AdmitHopeless: rapid.Bool().Draw(t, "hopeless"), Deadline: 300 * ms, HoldAtMost: 500 * ms,
				Pool: pool.Config{
					Slots: max(1, upTo3("slots")), Borrow: upTo3("borrow"), Bound: 1 + upTo3("bound"), Order: pool.FIFO, BlockFor: 40 * ms,
					WhenFull: rapid.SampledFrom([]pool.WhenFull{pool.Reject, pool.Block, pool.DropOldest}).Draw(t, "when full"),
				},
			})
		}
		m := must(New(Config{Strict: true, Classes: classes}))
		var (
			out    Effects
			now    unit.Instant
			turned [3]bool
			sums   [3]time.Duration
			whole  time.Duration
			live   []Ticket
		)
		look := func() { // at the effects of an event
			for _, e := range out.List {
				if e.Kind == Run {
					turned[e.Class] = false
				}
			}
			out.Reset()
		}
		wait := func(until unit.Instant) { // in stretches in which nothing happens
			for now < until {
				next := min(until, max(m.Next(), now))
				used, limit, short := 0, 0, false
				for i := range classes {
					s := m.Class(i)
					used, limit = used+s.Used, limit+s.Slots
				}
				for i := range classes {
					if s := m.Class(i); s.Used >= s.Slots+s.Borrow && (turned[i] || s.Waiting+s.Blocked > 0) && used < limit {
						sums[i] += next.Sub(now) * time.Duration(limit-used)
						short = true
					}
				}
				if short {
					whole += next.Sub(now) * time.Duration(limit-used)
				}
				now = next
				m.Advance(now, &out)
				look()
			}
		}
		for range rapid.IntRange(1, 100).Draw(t, "events") {
			wait(now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "ms")) * ms))
			if n := len(live); n > 0 && rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				k := rapid.IntRange(0, n-1).Draw(t, "who")
				if it := m.find(live[k]); it != nil && it.State != pool.Waiting && it.State != pool.Blocked {
					m.Done(now, live[k], Outcome{Reason: reason.Served}, &out)
				} else {
					m.Leave(now, live[k], &out)
				}
				live = append(live[:k], live[k+1:]...)
				look()
				continue
			}
			i := rapid.IntRange(0, 2).Draw(t, "class")
			v := m.Offer(now, &Request{Class: i}, &out)
			look()
			switch v.Kind {
			case Run:
				turned[i] = false
			case Refuse:
				turned[i] = true
			}
			if v.Ticket != 0 {
				live = append(live, v.Ticket)
			}
		}
		wait(now.Add(time.Second))
		for i := range classes {
			if got := m.Class(i).IdleWhileRefusing; got != sums[i] {
				t.Errorf("%s: %v, adds up to %v", classes[i].Name, got, sums[i])
			}
		}
		if got := m.IdleWhileRefused(now); got != whole {
			t.Errorf("the resource: %v, adds up to %v", got, whole)
		}
		if whole > 0 {
			idled++
		}
	})
	if idled == 0 {
		t.Error("no slot ever was idle")
	}
}
