package boundary

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

func benchMachine(b *testing.B, slots int, t pool.TenantConfig) *Machine {
	b.Helper()
	m, err := New(Config{Name: "app", Classes: []Class{{
		Name: "checkout",
		Pool: pool.Config{Slots: slots, Latency: 300 * time.Millisecond, Service: 100 * time.Millisecond,
			MemoryLimit: 64 << 20, PerRequest: 64 << 10, Tenants: t},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// BenchmarkSlotFree is one request that finds a slot and gives it back.
func BenchmarkSlotFree(b *testing.B) {
	m := benchMachine(b, 40, pool.TenantConfig{})
	var out Effects
	r := Request{}
	b.ReportAllocs()
	for i := range b.N {
		now := unit.Instant(i) * 1000
		v := m.Offer(now, &r, &out)
		m.Done(now+100, v.Ticket, Outcome{Reason: reason.Served}, &out)
	}
}

// BenchmarkRefuse is one request that finds slots and room full.
func BenchmarkRefuse(b *testing.B) {
	m := benchMachine(b, 40, pool.TenantConfig{})
	var out Effects
	r := Request{}
	for range 40 + 80 {
		m.Offer(0, &r, &out)
	}
	b.ReportAllocs()
	for range b.N {
		if v := m.Offer(1000, &r, &out); v.Kind != Refuse {
			b.Fatal(v)
		}
	}
}
