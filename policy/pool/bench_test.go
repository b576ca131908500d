package pool

import (
	"fmt"
	"testing"

	"github.com/spillway-dev/spillway/policy/fair"
)

// BenchmarkSlots is the bare pool: a slot taken and given back.
func BenchmarkSlots(b *testing.B) {
	s := NewSlots(10, 0)
	for range b.N {
		if s.TryTake() {
			s.Give()
		}
	}
}

// BenchmarkFairQueue has 1,000 tenants that always wait: one request leaves,
// another of the same tenant arrives.
func BenchmarkFairQueue(b *testing.B) {
	for _, policy := range []fair.Policy{fair.Fifo, fair.RR, fair.WRR, fair.DRR} {
		b.Run(policy.String(), func(b *testing.B) {
			h := &house{Pool: New(Config{Slots: 1, Bound: 10_000, Tenants: TenantConfig{Policy: policy}})}
			for i := range 2000 {
				h.arrive(fmt.Sprint("tenant-", i%1000), 0, 0, 0)
			}
			b.ReportAllocs()
			for range b.N {
				it := h.Next(0)
				h.Take(it)
				h.Enter(it)
			}
		})
	}
}
