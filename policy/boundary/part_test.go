package boundary

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// seen is what became of a tenant's requests.
type seen struct {
	offered, served, refused, late int
	waits                          []time.Duration // of those that were served
}

// share is a class of 40 slots and calls of 100 ms, a budget of 300 ms and
// deadlines of 500 ms, offered for a minute so much of its capacity by tenants
// whose rates are to each other as rates says. What happens in the first ten
// seconds, in which measurements settle, is not looked at.
func share(policy fair.Policy, load float64, weights map[string]int, rates map[string]float64) map[string]*seen {
	const slots, service, settle = 40, 100 * ms, 10 * time.Second
	l := newLoop(Config{Classes: []Class{{Name: "app", Deadline: 500 * ms, Pool: pool.Config{
		Slots: slots, Latency: 300 * ms, MemoryLimit: 64 << 20, PerRequest: 64 << 10,
		Tenants: pool.TenantConfig{Policy: policy, Weights: weights},
	}}}})
	names := make([]string, 0, len(rates))
	sum := 0.0
	for name, rate := range rates { // sorted below
		names = append(names, name)
		sum += rate
	}
	slices.Sort(names)
	all := map[string]*seen{}
	for i, name := range names {
		s := &seen{}
		all[name] = s
		rate := load * slots / service.Seconds() * rates[name] / sum
		l.arrivals(rate, settle+minute, uint64(i+1), func() {
			counts := l.now >= unit.Instant(settle)
			if counts {
				s.offered++
			}
			l.offer(&call{request: Request{Tenant: name}, service: service, answer: func(c *call, why reason.Reason, _ time.Duration) {
				switch {
				case !counts:
				case why == reason.Served:
					s.served++
					s.waits = append(s.waits, l.now.Sub(c.offered)-service)
				case why.AtAdmission():
					s.refused++
				default: // after it waited, or ran
					s.late++
				}
			}})
		})
	}
	l.run(settle + 2*minute)
	if err := l.machine.Check(); err != nil {
		panic(err)
	}
	return all
}

func total(all map[string]*seen) (sum seen) {
	for _, s := range all { // sums, and waits that are sorted by whoever looks at them
		sum.offered += s.offered
		sum.served += s.served
		sum.refused += s.refused
		sum.late += s.late
		sum.waits = append(sum.waits, s.waits...)
	}
	return sum
}

func p99(waits []time.Duration) time.Duration {
	slices.Sort(waits)
	return waits[len(waits)*99/100]
}

func mean(waits []time.Duration) (m time.Duration) {
	for _, w := range waits {
		m += w / time.Duration(len(waits))
	}
	return m
}

const (
	allowedWait = 200 * ms
	capacity    = 40 * 10 * 60 // served in a minute
)

// A noisy tenant that offers six times what each of two others does, one and a
// half times what can be served in all: the others do not notice.
func TestANoisyTenantBesideLightOnes(t *testing.T) {
	for _, policy := range []fair.Policy{fair.RR, fair.WRR, fair.DRR} {
		all := share(policy, 1.5, nil, map[string]float64{"noisy": 6, "acme": 1, "beta": 1})
		for _, name := range []string{"acme", "beta"} {
			if s := all[name]; s.served != s.offered {
				t.Errorf("%v: %s: %d of %d served, %d refused, %d too late", policy, name, s.served, s.offered, s.refused, s.late)
			}
		}
		sum := total(all)
		if sum.late != 0 {
			t.Errorf("%v: %d were answered too late", policy, sum.late)
		}
		if sum.served < capacity*99/100 {
			t.Errorf("%v: %d served, of %d that could be", policy, sum.served, capacity)
		}
		if got := mean(all["noisy"].waits); got > allowedWait {
			t.Errorf("%v: the noisy one waits %v on average", policy, got)
		}
		if got := p99(sum.waits); got > allowedWait*5/4 {
			t.Errorf("%v: one in a hundred waits longer than %v", policy, got)
		}
		t.Logf("%v: served %d, noisy's mean wait %v, p99 %v of all, %v of noisy, %v of acme", policy, sum.served,
			mean(all["noisy"].waits), p99(sum.waits), p99(all["noisy"].waits), p99(all["acme"].waits))
	}
}

// Ten that are alike, five times what can be served: next to nobody is let in
// to be refused.
func TestTenAlikeUnderAFlood(t *testing.T) {
	rates := map[string]float64{}
	for i := range 10 {
		rates[fmt.Sprint("t", i)] = 1
	}
	all := share(fair.WRR, 5, nil, rates)
	sum := total(all)
	if letIn := sum.offered - sum.refused; sum.late*100 > letIn {
		t.Errorf("%d of %d that were let in were refused after a wait", sum.late, letIn)
	}
	if sum.served < capacity*99/100 {
		t.Errorf("%d served, of %d that could be", sum.served, capacity)
	}
	served := []float64{}
	for i := range 10 {
		served = append(served, float64(all[fmt.Sprint("t", i)].served))
	}
	if j := jain(served); j < 0.999 {
		t.Errorf("served %v, Jain %.4f", served, j)
	}
	t.Logf("of %d let in %d were refused after a wait; p99 %v", sum.offered-sum.refused, sum.late, p99(sum.waits))
}

// Three that all want more than their share are served by weight.
func TestWeightsUnderAFlood(t *testing.T) {
	all := share(fair.WRR, 3, map[string]int{"gold": 3, "silver": 2}, map[string]float64{"gold": 1, "silver": 1, "bronze": 1})
	sum := total(all)
	for name, weight := range map[string]int{"gold": 3, "silver": 2, "bronze": 1} {
		want := float64(weight) / 6
		if got := float64(all[name].served) / float64(sum.served); got < want*0.97 || got > want*1.03 {
			t.Errorf("%s has %.3f of what is served, want %.3f", name, got, want)
		}
		if got := p99(all[name].waits); got > allowedWait*3/2 {
			t.Errorf("%s: one in a hundred waits longer than %v", name, got)
		}
	}
	if sum.served < capacity*99/100 || sum.late*100 > sum.served {
		t.Errorf("%d served of %d that could be, %d after their time", sum.served, capacity, sum.late)
	}
}

// Who has filled its part gives way itself: whatever the rule that evicts, an
// arrival of such a tenant costs no other tenant a place.
func TestWhoFillsItsPartGivesWayItself(t *testing.T) {
	evictedOwn := 0
	rapid.Check(t, func(t *rapid.T) {
		m := must(New(Config{Strict: true, Classes: []Class{{Name: "app", AdmitHopeless: true, Pool: pool.Config{
			Slots: 1, Bound: rapid.IntRange(1, 20).Draw(t, "bound"), Levels: 3, Order: pool.FIFO,
			WhenFull: rapid.SampledFrom([]pool.WhenFull{pool.DropOldest, pool.Displace}).Draw(t, "rule"),
			Tenants: pool.TenantConfig{
				Policy:  rapid.SampledFrom([]fair.Policy{fair.RR, fair.WRR, fair.DRR}).Draw(t, "policy"),
				Weights: map[string]int{"a": rapid.IntRange(1, 4).Draw(t, "weight")},
			},
		}}}}))
		c := m.classes[0]
		dice := chance.New(rapid.Uint64().Draw(t, "seed"))
		tenants := map[Ticket]string{}
		var out Effects
		var now unit.Instant
		running := m.Offer(now, &Request{}, &out).Ticket
		for range rapid.IntRange(1, 600).Draw(t, "events") {
			now = now.Add(ms)
			out.Reset()
			if dice.Below(4) == 0 && c.Waiting() > 0 {
				m.Done(now, running, Outcome{Reason: reason.Served}, &out)
				running = out.List[0].Ticket
				continue
			}
			name := []string{"a", "a", "a", "b", "c", "d"}[dice.Below(6)]
			filled := c.Full(c.Get(name), 0) == reason.TenantFull
			v := m.Offer(now, &Request{Tenant: name, Importance: int(dice.Below(3))}, &out)
			tenants[v.Ticket] = name
			for _, e := range out.List {
				if filled && tenants[e.Ticket] != name {
					t.Fatalf("%s had filled its part, and %s had to go", name, tenants[e.Ticket])
				}
				if filled {
					evictedOwn++
				}
			}
			if filled && v.Kind == Refuse && v.Reason != reason.TenantFull {
				t.Fatalf("%s had filled its part: %v", name, v)
			}
			if err := m.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if evictedOwn == 0 {
		t.Error("nobody ever gave way")
	}
}
