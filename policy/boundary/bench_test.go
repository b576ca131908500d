package boundary

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

func newCheckout(slots int, t pool.TenantConfig) *Machine {
	return must(New(Config{Name: "app", Strict: true, Classes: []Class{{
		Name: "checkout",
		Pool: pool.Config{Slots: slots, Latency: 300 * time.Millisecond, Service: 100 * time.Millisecond,
			MemoryLimit: 64 << 20, PerRequest: 64 << 10, Tenants: t},
	}}}))
}

var policies = []fair.Policy{fair.Fifo, fair.Priority, fair.RR, fair.WRR, fair.DRR}

// A decision allocates nothing once the machine has reached its size, whatever
// it is and whatever the fairness policy: run, wait, refuse, evict, leave, done.
func TestDecisionsAllocateNothing(t *testing.T) {
	names := []string{"", "a", "b", "c"}
	for _, policy := range policies {
		for _, rule := range []pool.WhenFull{pool.Reject, pool.DropOldest, pool.Displace, pool.Block} {
			m := must(New(Config{Strict: true, Classes: []Class{{Name: "app", Deadline: time.Second, Pool: pool.Config{
				Slots: 4, Latency: 300 * ms, Service: 100 * ms, Bound: 6, MemoryLimit: 1 << 20, PerRequest: 1 << 10,
				WhenFull: rule, BlockFor: 50 * ms, Levels: 3, Tenants: pool.TenantConfig{Policy: policy, Queue: 3},
			}}}}))
			var out Effects
			var now unit.Instant
			running := make([]Ticket, 0, 64)
			waiting := make([]Ticket, 0, 64)
			i := 0
			seen := map[Kind]bool{}
			round := func() {
				for range 40 {
					i++
					now = now.Add(7 * ms)
					out.Reset()
					r := Request{Tenant: names[i%4], Importance: i % 3, Bytes: 100, Cost: unit.Cost(i % 9)}
					v := m.Offer(now, &r, &out)
					seen[v.Kind] = true
					switch v.Kind {
					case Run:
						running = append(running, v.Ticket)
					case Wait:
						waiting = append(waiting, v.Ticket)
					}
					if i%3 == 0 && len(running) > 0 {
						m.Done(now, running[0], Outcome{Reason: reason.Served, Cost: unit.Cost(i % 5)}, &out)
						running = running[:copy(running, running[1:])]
					}
					for _, e := range out.List {
						if e.Kind == Run {
							running = append(running, e.Ticket)
						}
					}
					if i%5 == 0 && len(waiting) > 0 {
						last := waiting[len(waiting)-1]
						if it := m.find(last); it != nil && it.State != pool.Running && it.State != pool.Abandoned {
							m.Leave(now, last, &out)
						}
						waiting = waiting[:0]
					}
				}
				for len(running) > 0 { // whatever is due meanwhile is an event as well
					out.Reset()
					if m.find(running[0]) != nil {
						m.Done(now, running[0], Outcome{Reason: reason.Served}, &out)
					}
					running = running[:copy(running, running[1:])]
					for _, e := range out.List {
						if e.Kind == Run {
							running = append(running, e.Ticket)
						}
					}
				}
			}
			for range 10 {
				round()
			}
			if n := testing.AllocsPerRun(100, round); n != 0 {
				t.Errorf("%v, %v: %v allocations in 40 decisions", policy, rule, n)
			}
			if !seen[Run] || !seen[Wait] || rule == pool.Reject && !seen[Refuse] {
				t.Errorf("%v, %v: only %v were seen", policy, rule, seen)
			}
			if err := m.Check(); err != nil {
				t.Errorf("%v, %v: %v", policy, rule, err)
			}
		}
	}
}

// BenchmarkSlotFree is one request that finds a slot and gives it back.
func BenchmarkSlotFree(b *testing.B) {
	b.Run("sole tenant", func(b *testing.B) { slotFree(b, pool.TenantConfig{}, []string{""}) })
	b.Run("1000 tenants", func(b *testing.B) {
		slotFree(b, pool.TenantConfig{Policy: fair.WRR}, tenantNames(1000))
	})
}

func slotFree(b *testing.B, t pool.TenantConfig, names []string) {
	m := newCheckout(40, t)
	var out Effects
	i := 0
	b.ReportAllocs()
	for n := range b.N {
		now := unit.Instant(n) * 1000
		v := m.Offer(now, &Request{Tenant: names[i]}, &out)
		m.Done(now+100, v.Ticket, Outcome{Reason: reason.Served}, &out)
		if i++; i == len(names) {
			i = 0
		}
	}
}

func tenantNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("tenant-%d", i)
	}
	return names
}

// BenchmarkRefuse is one request that finds slots and room full.
func BenchmarkRefuse(b *testing.B) {
	m := newCheckout(40, pool.TenantConfig{})
	var out Effects
	r := Request{}
	for range 40 + 80 {
		m.Offer(0, &r, &out)
	}
	b.ReportAllocs()
	for range b.N {
		if m.Offer(1000, &r, &out).Kind != Refuse {
			b.Fatal("not refused")
		}
	}
}

// BenchmarkQueue is one request of 1,000 tenants that always wait: one ends,
// the next starts, another of its tenant arrives.
func BenchmarkQueue(b *testing.B) {
	for _, policy := range policies {
		b.Run(policy.String(), func(b *testing.B) { queue(b, policy, 1000, 1000) })
	}
}

// BenchmarkKnownTenants has the same 1,000 tenants active, and more and more
// that are remembered and idle.
func BenchmarkKnownTenants(b *testing.B) {
	for _, known := range []int{1000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(known), func(b *testing.B) { queue(b, fair.WRR, known, 1000) })
	}
}

func queue(b *testing.B, policy fair.Policy, known, active int) {
	m := must(New(Config{Classes: []Class{{Name: "app", AdmitHopeless: true, Deadline: 5 * time.Minute, Pool: pool.Config{
		Slots: 1, Bound: 2 * active, Order: pool.FIFO, Tenants: pool.TenantConfig{Policy: policy, Keep: known},
	}}}}))
	var out Effects
	var now unit.Instant
	names := tenantNames(known)
	for _, name := range names { // each comes once, and goes
		v := m.Offer(now, &Request{Tenant: name}, &out)
		m.Done(now, v.Ticket, Outcome{}, &out)
	}
	running := m.Offer(now, &Request{}, &out).Ticket
	for _, name := range names[:active] {
		m.Offer(now, &Request{Tenant: name}, &out)
	}
	i := 0
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		now = now.Add(time.Microsecond)
		out.Reset()
		m.Done(now, running, Outcome{Reason: reason.Served}, &out)
		running = out.List[0].Ticket
		m.Offer(now, &Request{Tenant: names[i]}, &out)
		if i++; i == active {
			i = 0
		}
	}
}
