package boundary

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// One slot and two places, both taken. A request is refused, something happens,
// and the same request is answered by what is true then.
func TestARefusalStandsUntilSomethingHappens(t *testing.T) {
	sole := []string{"", "", ""}
	for _, c := range []struct {
		name    string
		class   Class
		tenants []string // of the one that runs and of those that wait
		ask     Request  // refused first
		then    func(m *Machine, first []Ticket, out *Effects)
		at      time.Duration
		again   Request
		want    string
	}{
		{name: "nothing", tenants: sole, want: "refuse queue_full"},
		{name: "time has passed", tenants: sole, at: ms / 2, want: "refuse queue_full"},
		{name: "a slot comes free", tenants: sole, want: "wait none",
			then: func(m *Machine, first []Ticket, out *Effects) {
				m.Done(1, first[0], Outcome{Reason: reason.Served}, out)
			}},
		{name: "a waiter leaves", tenants: sole, want: "wait none",
			then: func(m *Machine, first []Ticket, out *Effects) { m.Leave(1, first[2], out) }},
		{name: "a waiter's deadline passes, and nobody was told", tenants: sole, at: ms, want: "wait none"},
		{name: "the machine is drained", tenants: sole, want: "refuse draining",
			then: func(m *Machine, _ []Ticket, out *Effects) { m.Drain(1, out) }},
		{name: "the room is made larger", tenants: sole, want: "wait none",
			then: func(m *Machine, _ []Ticket, out *Effects) {
				cfg := oneSlot(Class{})
				cfg.Classes[0].Pool.Bound = 3
				if err := m.Reconfigure(1, cfg, out); err != nil {
					panic(err)
				}
			}},
		{name: "it retains more than there may be", tenants: sole, again: Request{Bytes: 1001}, want: "refuse queue_bytes"},
		{name: "its deadline has passed", tenants: sole, at: ms / 2, again: Request{Deadline: 1}, want: "refuse expired"},
		{name: "its deadline is before all time", tenants: sole, again: Request{Deadline: -1 << 63}, want: "refuse expired"},
		{name: "it has less time than it takes", class: Class{DeadlineMax: time.Second}, tenants: sole, ask: Request{Deadline: unit.Instant(500 * ms)},
			again: Request{Deadline: unit.Instant(19 * ms)}, want: "refuse infeasible"},
		{name: "it names no deadline, and the class's is too short", class: Class{Deadline: 15 * ms, DeadlineMax: time.Second}, tenants: sole,
			ask: Request{Deadline: unit.Instant(500 * ms)}, want: "refuse infeasible"},
		{name: "another tenant goes to wait before it", class: Class{Pool: pool.Config{Tenants: pool.TenantConfig{Queue: 1}}},
			tenants: []string{"", "a"}, ask: Request{Tenant: "a", Deadline: unit.Instant(25 * ms)}, want: "refuse infeasible",
			again: Request{Tenant: "a", Deadline: unit.Instant(25 * ms)},
			then:  func(m *Machine, _ []Ticket, out *Effects) { m.Offer(1, &Request{Tenant: "b"}, out) }},
		{name: "it is dropped", class: Class{Pool: pool.Config{WhenFull: pool.Drop}}, tenants: sole, want: "refuse dropped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := must(New(oneSlot(c.class)))
			var out Effects
			for range 16 { // so that it is known what a call takes
				v := m.Offer(0, &Request{Deadline: unit.Instant(time.Second)}, &out)
				m.Done(unit.Instant(m.now)+unit.Instant(10*ms), v.Ticket, Outcome{Reason: reason.Served}, &out)
			}
			before := m.now
			var first []Ticket
			for _, name := range c.tenants {
				first = append(first, m.Offer(before, &Request{Tenant: name, Deadline: before.Add(100 * ms)}, &out).Ticket)
			}
			start := before.Add(99 * ms) // a millisecond before what is there is due
			shift := func(r Request) *Request {
				if r.Deadline > 0 {
					r.Deadline += start
				}
				return &r
			}
			for range 100 { // until the calendar is full
				if v := m.Offer(start, shift(c.ask), &out); v.Kind != Refuse {
					t.Fatal(v)
				}
			}
			if c.then != nil {
				c.then(m, first, &out)
			}
			v := m.Offer(start.Add(c.at), shift(c.again), &out)
			if got := fmt.Sprint(v.Kind, " ", v.Reason); got != c.want {
				t.Errorf("%v, want %v", v, c.want)
			}
			if err := m.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// oneSlot has one slot and a room for two.
func oneSlot(c Class) Config {
	c.Name, c.RetryAfterMax = "app", time.Second
	if c.Deadline == 0 {
		c.Deadline = 200 * ms
	}
	c.Pool.Slots, c.Pool.Bound, c.Pool.MemoryLimit = 1, 2, 1000
	return Config{Strict: true, Classes: []Class{c}}
}

// A clock that runs backwards sees the latest instant, whether or not a refusal
// stands.
func TestAStandingRefusalTakesNoEarlierInstant(t *testing.T) {
	m := must(New(oneSlot(Class{Deadline: time.Hour, DeadlineMax: time.Hour})))
	var out Effects
	for range 200 {
		m.Offer(500, &Request{}, &out)
	}
	m.Offer(1000, &Request{}, &out)
	m.Offer(900, &Request{}, &out)
	if m.now != 1000 {
		t.Errorf("the machine has reached %v, and was at 1µs before", m.now)
	}
}
