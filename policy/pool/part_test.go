package pool

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// place is how many of t may wait in a room with that bound: the first number
// at which its part is full.
func place(t *Tenant, bound int) int {
	was := t.queue[0].len
	defer func() { t.queue[0].len = was }()
	for n := 0; ; n++ {
		if t.queue[0].len = n; t.fillsPart(bound) {
			return n
		}
	}
}

// How many of a tenant may wait, by how many turns it takes to its next one.
func TestPart(t *testing.T) {
	for _, c := range []struct {
		turns, bound, want int
	}{
		{0, 80, 80}, // not measured yet
		{1, 80, 80}, // every turn is its own
		{2, 80, 32}, // 80 / 2.5
		{3, 80, 20}, // 80 / 4
		{10, 80, 6}, // 80 / 14.5, and the one that is begun
		{1000, 80, 1},
		{1, 1, 1},
		{10, 1, 1},
		{1, 0, 1}, // the room itself is full then, whoever asks
		{turnsMax, 1 << 20, 1},
	} {
		tenant := &Tenant{turns: int64(c.turns) << partShift}
		if got := place(tenant, c.bound); got != c.want {
			t.Errorf("a turn in %d, bound %d: %d may wait, want %d", c.turns, c.bound, got, c.want)
		}
	}
}

// Only turns that went to others while a request of the tenant's waited count
// against it: who comes seldom and waits for little is not squeezed.
func TestTurnsCountFromTheArrival(t *testing.T) {
	seldom := &Tenant{}
	for i := range uint64(10 * partWindow) {
		seldom.took(100*i, 100*i+1)
	}
	if got := place(seldom, 80); got != 80 {
		t.Errorf("a request in a hundred turns, which gets the next: %d of 80 places", got)
	}
	queued := &Tenant{}
	for i := range uint64(10 * partWindow) {
		queued.took(0, 5*i)
	}
	if got := place(queued, 80); got != 12 { // 80 / 7
		t.Errorf("every fifth turn, however long ago its request came: %d of 80 places", got)
	}
}

// crowd is a pool whose tenants always have another request at hand.
type crowd struct {
	house
	names []string
	first int                      // who is the next to fill its part, each in turn
	full  map[string]reason.Reason // why the tenant's latest was turned away
}

func newCrowd(cfg Config, names ...string) *crowd {
	return &crowd{house: house{Pool: New(cfg)}, names: names, full: map[string]reason.Reason{}}
}

// turns has so many requests served, each tenant's room being filled up before
// each, and returns whom they were of.
func (c *crowd) turns(n int) (served map[string]int) {
	served = map[string]int{}
	for range n {
		c.first++
		for i := range c.names {
			name := c.names[(c.first+i)%len(c.names)]
			for {
				if why := c.Full(c.Get(name), 0); why != reason.None {
					c.full[name] = why
					break
				}
				c.arrive(name, 0, 0, 0)
			}
		}
		it := c.Next(0)
		served[it.Tenant.Name]++
		c.Take(it)
		c.gone(it)
	}
	return served
}

func TestATenantAloneHasTheWholeRoom(t *testing.T) {
	for _, policy := range []fair.Policy{fair.RR, fair.WRR, fair.DRR, fair.Priority} {
		c := newCrowd(Config{Slots: 1, Bound: 50, Tenants: TenantConfig{Policy: policy}}, "alone")
		c.turns(1000)
		if c.Find("alone").Waiting() != 49 || c.full["alone"] != reason.QueueFull {
			t.Errorf("%v: %d of 50 places, then %v", policy, c.Find("alone").Waiting()+1, c.full["alone"])
		}
	}
}

// The parts of tenants that are always backlogged, however many and whatever
// their weights, leave room for all of them, and each has a part in proportion
// to what it is served, up to the half that evens out its waits.
func TestPartsFitTheRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 10).Draw(t, "tenants")
		bound := rapid.IntRange(n, 300).Draw(t, "bound")
		cfg := Config{Slots: 1, Bound: bound, Tenants: TenantConfig{
			Policy:  rapid.SampledFrom([]fair.Policy{fair.RR, fair.WRR, fair.DRR}).Draw(t, "policy"),
			Weights: map[string]int{},
		}}
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint("t", i))
			cfg.Tenants.Weights[names[i]] = rapid.IntRange(1, 5).Draw(t, "weight")
		}
		c := newCrowd(cfg, names...)
		c.turns(20 * partWindow * n)
		const counted = 5000
		served := c.turns(counted)
		sum := 0
		for _, name := range names {
			p := place(c.Find(name), bound)
			sum += p
			share := float64(served[name]) / counted
			if most := float64(bound)*share*1.2 + 1; float64(p) > most {
				t.Fatalf("%s is served %.3f and may have %d of %d places", name, share, p, bound)
			}
			if least := float64(bound)*share/1.5*0.8 - 1; float64(p) < least {
				t.Fatalf("%s is served %.3f and may have only %d of %d places", name, share, p, bound)
			}
		}
		if sum > bound+n {
			t.Fatalf("%d tenants may have %d of %d places together", n, sum, bound)
		}
	})
}

// Once the others have gone, who was squeezed has all its room again, within a
// few windows of its own turns; the longer ago, the same.
func TestRoomComesBack(t *testing.T) {
	c := newCrowd(Config{Slots: 1, Bound: 100, Tenants: TenantConfig{Policy: fair.RR}}, "a", "b", "c", "d", "e")
	c.turns(100 * partWindow)
	if got := place(c.Find("a"), 100); got < 13 || got > 16 { // 100 / 7
		t.Fatalf("one of five may have %d of 100 places", got)
	}
	c.names = c.names[:1]
	for c.Waiting() > c.Find("a").Waiting() { // the others' last ones leave
		c.turns(1)
	}
	for _, step := range []struct{ windows, places int }{{1, 25}, {1, 50}, {1, 70}, {2, 95}, {5, 100}} {
		c.turns(step.windows * partWindow)
		if got := place(c.Find("a"), 100); got < step.places {
			t.Errorf("%d of 100 places are back, want %d", got, step.places)
		}
	}
}

// No part where a producer may be held, or where the tenant has a bound of its
// own, or where tenants are not told apart.
func TestWhereThereAreNoParts(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   Config
		parts bool
	}{
		{"round robin", Config{Tenants: TenantConfig{Policy: fair.RR}}, true},
		{"block", Config{WhenFull: Block, Tenants: TenantConfig{Policy: fair.RR}}, false},
		{"a bound of its own", Config{Tenants: TenantConfig{Policy: fair.RR, Queue: 40}}, false},
		{"one queue", Config{}, false},
	} {
		c.cfg.Slots, c.cfg.Bound = 1, 50
		crowd := newCrowd(c.cfg, "a", "b", "c")
		crowd.turns(20 * partWindow)
		a := crowd.Find("a")
		for crowd.Waiting() > a.Waiting() { // of the others nobody is left
			for _, name := range []string{"b", "c"} {
				if it := crowd.Find(name).queue[0].head; it != nil {
					crowd.Remove(it)
					crowd.gone(it)
				}
			}
		}
		for crowd.Full(a, 0) == reason.None {
			crowd.arrive("a", 0, 0, 0)
		}
		if parts := a.Waiting() < 40; parts != c.parts {
			t.Errorf("%s: a may have %d of 50 places", c.name, a.Waiting())
		}
	}
}

// The room is never said to retain more than the limit, in any mix of those who
// declare what they retain and those who do not, and what it is said to retain is
// what they declare and PerRequest for each that declares nothing.
func TestMemoryHoldsForAnyMix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 1000).Draw(t, "limit")
		each := rapid.Int64Range(0, 1200).Draw(t, "each")
		h := &house{Pool: New(Config{Slots: 1, MemoryLimit: limit, PerRequest: each})}
		var sum int64
		for range rapid.IntRange(1, 100).Draw(t, "arrivals") {
			declared := rapid.SampledFrom([]int64{-1, 0, 1, 10, 100, 900, 1 << 62}).Draw(t, "declared")
			charge := declared
			if declared <= 0 {
				charge = min(each, limit)
			}
			fits := sum+min(charge, limit+1) <= limit
			why := h.Full(h.Get(""), h.Charge(declared))
			if why == reason.QueueBytes && fits || why == reason.None && !fits {
				t.Fatalf("%d of %d bytes are retained, %d more: %v", sum, limit, charge, why)
			}
			if why == reason.None {
				h.arrive("", 0, h.Charge(declared), 0)
				sum += charge
			}
			if h.Bytes() != sum || h.Bytes() > limit {
				t.Fatalf("the room counts %d bytes, %d are retained, the limit is %d", h.Bytes(), sum, limit)
			}
		}
	})
}

// Without a limit nothing is too large, nor can a sum overflow.
func TestNoMemoryLimit(t *testing.T) {
	h := &house{Pool: New(Config{Slots: 1, Bound: 10})}
	for range 10 {
		h.arrive("", 0, h.Charge(1<<63-1), 0)
	}
	if h.Bytes() != 10<<40 || h.Full(h.Get(""), h.Charge(1<<63-1)) != reason.QueueFull {
		t.Errorf("%d bytes, %v", h.Bytes(), h.Full(h.Get(""), 1))
	}
}

// The largest prediction is still one.
func TestPredictionDoesNotOverflow(t *testing.T) {
	h := &house{Pool: New(Config{Slots: 1, Bound: 1 << 30, Service: 1<<63 - 1, Latency: 1<<63 - 1})}
	for range 100 {
		h.arrive("", 0, 0, 0)
	}
	if got := h.PredictWait(h.Get(""), 0, unit.Instant(0)); got != 100*shortestMax || got > 1<<62 {
		t.Errorf("%v", time.Duration(got))
	}
}
