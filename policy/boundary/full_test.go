package boundary

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// What becomes of an arrival of tenant a, important, that finds the room full,
// by rule and by what is full: its verdict, and who had to go for it. One runs;
// in the room stand, in this order, o1 (other tenant), a1, o2, a2, each of ten
// bytes and less important than the arrival.
func TestWhenFull(t *testing.T) {
	tenantFull := func(c *pool.Config) { c.Tenants.Queue = 2; c.Bound = 9 }
	queueFull := func(c *pool.Config) { c.Bound = 4 }
	queueBytes := func(c *pool.Config) { c.Bound, c.MemoryLimit = 9, 45 }
	for _, c := range []struct {
		rule pool.WhenFull
		full string
		want string
	}{
		{pool.Reject, "tenant", "refuse tenant_full"},
		{pool.Reject, "queue", "refuse queue_full"},
		{pool.Reject, "bytes", "refuse queue_bytes"},
		{pool.Drop, "tenant", "refuse dropped"},
		{pool.Drop, "queue", "refuse dropped"},
		{pool.Drop, "bytes", "refuse dropped"},
		{pool.DropOldest, "tenant", "wait, a1 evicted"},
		{pool.DropOldest, "queue", "wait, a1 evicted"},
		{pool.DropOldest, "bytes", "wait, a1 evicted"},
		{pool.Displace, "tenant", "wait, a2 evicted"},
		{pool.Displace, "queue", "wait, a2 evicted"},
		{pool.Displace, "bytes", "wait, a2 evicted"},
		{pool.Block, "tenant", "refuse tenant_full"},
		{pool.Block, "queue", "wait blocked"},
		{pool.Block, "bytes", "wait blocked"},
	} {
		cfg := pool.Config{Slots: 1, WhenFull: c.rule, BlockFor: 50 * time.Millisecond, Levels: 2}
		map[string]func(*pool.Config){"tenant": tenantFull, "queue": queueFull, "bytes": queueBytes}[c.full](&cfg)
		m := must(New(Config{Strict: true, Classes: []Class{{Name: "app", Pool: cfg}}}))
		var out Effects
		m.Offer(0, &Request{Tenant: "first"}, &out)
		names := map[Ticket]string{}
		for _, name := range []string{"o1", "a1", "o2", "a2"} {
			names[m.Offer(0, &Request{Tenant: name[:1], Importance: 1, Bytes: 10}, &out).Ticket] = name
		}
		v := m.Offer(0, &Request{Tenant: "a", Bytes: 10}, &out)
		got := v.Kind.String()
		switch {
		case v.Kind == Refuse:
			got += " " + v.Reason.String()
		case m.Class(0).Blocked > 0:
			got += " blocked"
		}
		for _, e := range out.List {
			got += fmt.Sprintf(", %s %v", names[e.Ticket], e.Reason)
		}
		if got != c.want {
			t.Errorf("%v, %s full: %s, want %s", c.rule, c.full, got, c.want)
		}
		if err := m.Check(); err != nil {
			t.Errorf("%v, %s full: %v", c.rule, c.full, err)
		}
	}
}

// Rules at their edges.
func TestWhenFullEdges(t *testing.T) {
	type ask struct {
		tenant     string
		importance int
		bytes      int64
	}
	for _, c := range []struct {
		name string
		cfg  pool.Config
		room []ask
		ask  ask
		want string
	}{
		{"drop_oldest, nobody of its own: the oldest of all",
			pool.Config{WhenFull: pool.DropOldest, Bound: 2}, []ask{{"b", 0, 0}, {"c", 0, 0}}, ask{"a", 0, 0}, "wait [1]"},
		{"drop_oldest, as many as it takes",
			pool.Config{WhenFull: pool.DropOldest, Bound: 9, MemoryLimit: 100}, []ask{{"b", 0, 40}, {"b", 0, 40}, {"a", 0, 20}}, ask{"a", 0, 90}, "wait [3 1 2]"},
		{"drop_oldest, what would not fit an empty room evicts nobody",
			pool.Config{WhenFull: pool.DropOldest, Bound: 9, MemoryLimit: 100}, []ask{{"b", 0, 40}}, ask{"a", 0, 101}, "refuse queue_bytes []"},
		{"displace, the least important first",
			pool.Config{WhenFull: pool.Displace, Levels: 3, Bound: 3}, []ask{{"a", 2, 0}, {"a", 1, 0}, {"b", 1, 0}}, ask{"b", 0, 0}, "wait [1]"},
		{"displace, not among equals",
			pool.Config{WhenFull: pool.Displace, Levels: 3, Bound: 1}, []ask{{"a", 1, 0}}, ask{"a", 1, 0}, "refuse queue_full []"},
		{"displace, a full tenant only among its own",
			pool.Config{WhenFull: pool.Displace, Levels: 3, Bound: 9, Tenants: pool.TenantConfig{Queue: 1}}, []ask{{"b", 2, 0}, {"a", 0, 0}}, ask{"a", 0, 0}, "refuse tenant_full []"},
		{"displace, its own for its bound and another's for the room's bytes",
			pool.Config{WhenFull: pool.Displace, Levels: 3, Bound: 9, MemoryLimit: 100, Tenants: pool.TenantConfig{Queue: 1}}, []ask{{"b", 2, 90}, {"a", 1, 10}}, ask{"a", 0, 30}, "wait [2 1]"},
		{"displace, not its own in vain when the room's bytes are not enough",
			pool.Config{WhenFull: pool.Displace, Levels: 3, Bound: 9, MemoryLimit: 100, Tenants: pool.TenantConfig{Queue: 1}}, []ask{{"b", 0, 90}, {"a", 1, 10}}, ask{"a", 0, 30}, "refuse tenant_full []"},
		{"an importance that nobody configured counts as the least",
			pool.Config{WhenFull: pool.Displace, Levels: 2, Bound: 1}, []ask{{"a", 99, 0}}, ask{"a", -99, 0}, "wait [1]"},
		{"block, its stage is as bounded as the room",
			pool.Config{WhenFull: pool.Block, BlockFor: time.Second, Bound: 1}, []ask{{"a", 0, 0}, {"a", 0, 0}}, ask{"a", 0, 0}, "refuse queue_full []"},
	} {
		c.cfg.Slots = 1
		m := must(New(Config{Strict: true, Classes: []Class{{Name: "app", Pool: c.cfg}}}))
		var out Effects
		m.Offer(0, &Request{}, &out)
		for _, a := range c.room {
			if v := m.Offer(0, &Request{Tenant: a.tenant, Importance: a.importance, Bytes: a.bytes}, &out); v.Kind != Wait {
				t.Fatalf("%s: %v", c.name, v)
			}
		}
		v := m.Offer(0, &Request{Tenant: c.ask.tenant, Importance: c.ask.importance, Bytes: c.ask.bytes}, &out)
		evicted := []int{}
		for _, e := range out.List {
			evicted = append(evicted, e.Ticket.Index())
		}
		got := v.Kind.String()
		if v.Reason != reason.None {
			got += " " + v.Reason.String()
		}
		if got += " " + fmt.Sprint(evicted); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if err := m.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// An arrival of an idle tenant evicts the last waiter of another, which becomes
// idle by that: one of the two has to be forgotten, and not the one that is just
// being served.
func TestTheArrivingTenantIsNotForgotten(t *testing.T) {
	m := must(New(Config{Strict: true, Classes: []Class{{Name: "app", Pool: pool.Config{
		Slots: 1, Bound: 1, WhenFull: pool.DropOldest, Tenants: pool.TenantConfig{Keep: 1},
	}}}}))
	var out Effects
	m.Offer(0, &Request{}, &out)
	v := m.Offer(0, &Request{Tenant: "a"}, &out)
	m.Leave(0, v.Ticket, &out) // a is idle
	m.Offer(0, &Request{Tenant: "b"}, &out)
	m.Offer(0, &Request{Tenant: "a"}, &out)
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}

// A waiter that could no longer be answered in time when its slot comes is not
// run for nothing: the slot goes to the next, be it one that was still blocked.
func TestWhoCanNoLongerMakeItGivesWay(t *testing.T) {
	m := must(New(Config{Strict: true, Classes: []Class{{Name: "app", Pool: pool.Config{
		Slots: 2, Latency: time.Second, Bound: 1, WhenFull: pool.Block, BlockFor: time.Second,
	}}}}))
	var out Effects
	now := unit.Instant(0)
	for range 32 { // calls take 100 ms
		v := m.Offer(now, &Request{}, &out)
		now = now.Add(100 * time.Millisecond)
		m.Done(now, v.Ticket, Outcome{Reason: reason.Served}, &out)
	}
	first := m.Offer(now, &Request{}, &out)
	m.Offer(now, &Request{}, &out)
	waits := m.Offer(now, &Request{Deadline: now.Add(150 * time.Millisecond)}, &out)
	blocked := m.Offer(now, &Request{}, &out)
	m.Done(now.Add(100*time.Millisecond), first.Ticket, Outcome{Reason: reason.Served}, &out)
	if len(out.List) != 3 || out.List[0].Kind != Refuse || out.List[0].Ticket != waits.Ticket ||
		out.List[1].Kind != Entered || out.List[1].Ticket != blocked.Ticket ||
		out.List[2].Kind != Run || out.List[2].Ticket != blocked.Ticket {
		t.Errorf("%v, want the waiter refused and the blocked one let in and run", out.List)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}
