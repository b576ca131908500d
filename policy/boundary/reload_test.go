package boundary

import (
	"reflect"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// A machine that is given the configuration which it has, before every event,
// does what one does that is left alone: to the last hint and the last credit.
// Nobody who can cause reloads gains anything by it.
func TestAReloadThatChangesNothingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		script := make([]byte, rapid.IntRange(100, 2000).Draw(t, "length"))
		dice := chance.New(rapid.Uint64().Draw(t, "seed"))
		for i := range script {
			script[i] = byte(dice.Uint64())
		}
		p := &player{script: script, states: map[Ticket]pool.State{}, epoch: 1 << 40}
		cfg := p.config()
		for i := range cfg.Classes {
			cfg.Classes[i].Pool.Slots = max(cfg.Classes[i].Pool.Slots, 1)
		}
		alone, reloaded := must(New(cfg)), must(New(cfg))
		var tickets []Ticket
		for now := p.epoch; len(p.script) > 0; now += unit.Instant(p.next(64)) * unit.Instant(time.Millisecond) {
			if err := reloaded.Reconfigure(now, cfg, new(Effects)); err != nil {
				t.Fatal(err)
			}
			what, r := p.next(8), Request{
				Class: p.next(alone.Classes()), Tenant: []string{"a", "b", "c"}[p.next(3)], Importance: p.next(3),
				Cost: unit.Cost(1 + p.next(30)), Bytes: int64(p.next(400)),
			}
			ticket, seen := Ticket(0), [2]Verdict{}
			if len(tickets) > 0 {
				ticket = tickets[max(0, len(tickets)-1-p.next(8))]
			}
			var out [2]Effects
			for i, m := range []*Machine{alone, reloaded} {
				m.Advance(now, &out[i]) // so that what was due is on the same list
				switch {
				case what < 5:
					seen[i] = m.Offer(now, &r, &out[i])
				case m.find(ticket) == nil:
				case what == 5:
					m.Leave(now, ticket, &out[i])
				case m.find(ticket).State == pool.Running:
					m.Done(now, ticket, Outcome{Reason: reason.Served}, &out[i])
				}
			}
			if seen[0] != seen[1] {
				t.Fatalf("at %v: left alone it says %v, reloaded %v", now, seen[0], seen[1])
			}
			if seen[0].Ticket != 0 {
				tickets = append(tickets, seen[0].Ticket)
			}
			for i := range alone.Classes() {
				if a, b := alone.Class(i), reloaded.Class(i); !reflect.DeepEqual(a, b) {
					t.Fatalf("at %v: left alone the class is %+v, reloaded %+v", now, a, b)
				}
			}
		}
		if err := reloaded.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// Reload refills the buckets: whoever can cause reloads would have no limit. A
// client that has asked for all that it may is refused after a hundred reloads as
// before, whether they change nothing, another class, or its own limit.
func TestAReloadRefillsNoBucket(t *testing.T) {
	config := func(slots int, every time.Duration) Config {
		return Config{Name: "app", Strict: true, Clients: rate.Rule{Burst: 5, Interval: every}, ClientsKept: 16, Classes: []Class{
			{Name: "search", Pool: pool.Config{Slots: 100}},
			{Name: "other", Pool: pool.Config{Slots: slots}},
		}}
	}
	m := must(New(config(1, time.Minute)))
	var out Effects
	r := Request{Client: 7}
	for i := range 5 {
		if v := m.Offer(0, &r, &out); v.Kind != Run {
			t.Fatalf("request %d: %v", i, v)
		}
	}
	for i := range 100 {
		cfg := config(1+i%3, time.Minute)
		if i%10 == 9 {
			cfg = config(1, time.Hour)
		}
		if err := m.Reconfigure(unit.Instant(i), cfg, &out); err != nil {
			t.Fatal(err)
		}
		if v := m.Offer(unit.Instant(i), &r, &out); v.Kind != Refuse || v.Reason != reason.RateLimited {
			t.Fatalf("after %d reloads: %v, want refused for rate_limited", i+1, v)
		}
	}
}

// A limit that is halved holds from the reload on and counts what was used before. One
// that is taken away and comes back counts it too while another limit is left; with the
// last limit the memory of who has used what is given up, and who comes back to it
// starts with a full bucket.
func TestWhatALimitRemembersOfAReload(t *testing.T) {
	const burst = 6
	limited := func(burst int64, other *rate.Rule) Config {
		return Config{Name: "app", Strict: true, Clients: rate.Rule{Burst: burst, Interval: time.Minute}, ClientsKept: 16, Classes: []Class{
			{Name: "search", Pool: pool.Config{Slots: 100}},
			{Name: "other", Pool: pool.Config{Slots: 1}, Clients: other},
		}}
	}
	without := func(other *rate.Rule) Config {
		c := limited(0, other)
		c.Clients = rate.Rule{}
		return c
	}
	another := &rate.Rule{Burst: 1, Interval: time.Hour}
	for _, c := range []struct {
		name    string
		reloads []Config
		more    int // requests after four of six
	}{
		{"nothing", nil, 2},
		{"halved", []Config{limited(burst/2, nil)}, 0},
		{"halved and back", []Config{limited(burst/2, nil), limited(burst, nil)}, 2},
		{"taken away and back, another is left", []Config{without(another), limited(burst, another)}, 2},
		{"the last taken away and back", []Config{without(nil), limited(burst, nil)}, burst},
	} {
		m := must(New(limited(burst, nil)))
		var out Effects
		r := Request{Client: 7}
		for range 4 {
			m.Offer(0, &r, &out)
		}
		for _, cfg := range c.reloads {
			if err := m.Reconfigure(0, cfg, &out); err != nil {
				t.Fatal(err)
			}
		}
		more := 0
		for m.Offer(0, &r, &out).Kind == Run && more < 50 {
			more++
		}
		if more != c.more {
			t.Errorf("%s: %d more are admitted, want %d", c.name, more, c.more)
		}
	}
}
