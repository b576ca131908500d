package decision

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"golang.org/x/sync/semaphore"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
)

// slots is more than there are goroutines: nobody is refused.
const slots = 1000

// BenchmarkSlotsXSync is x/sync's weighted semaphore, which locks.
func BenchmarkSlotsXSync(b *testing.B) {
	s := semaphore.NewWeighted(slots)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if !s.TryAcquire(1) {
				b.Error("refused")
				return
			}
			s.Release(1)
		}
	})
}

// BenchmarkSlotsPool is pool.Slots as the machine uses it. Like all of policy
// it has no lock of its own: one goroutine drives it.
func BenchmarkSlotsPool(b *testing.B) {
	s := pool.NewSlots(slots, 0)
	b.ReportAllocs()
	for b.Loop() {
		if !s.TryTake() {
			b.Fatal("refused")
		}
		s.Give()
	}
}

// BenchmarkSlotsPoolLocked is the same behind a lock for each of the two steps,
// on the same terms as the semaphore.
func BenchmarkSlotsPoolLocked(b *testing.B) {
	var mu sync.Mutex
	s := pool.NewSlots(slots, 0)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			mu.Lock()
			ok := s.TryTake()
			mu.Unlock()
			if !ok {
				b.Error("refused")
				return
			}
			mu.Lock()
			s.Give()
			mu.Unlock()
		}
	})
}

// newGate is a class with all that an admission passes: deadline, feasibility,
// derived bound, bytes, a tenant with a weight, counters, permit.
func newGate(b *testing.B, slots int) *gate.Gate {
	b.Helper()
	g, err := gate.New(gate.Config{Classes: []gate.Class{{Name: "checkout", Pool: gate.Pool{
		Slots: slots, Latency: 300 * time.Millisecond, Service: 100 * time.Millisecond,
		MemoryLimit: 64 << 20, PerRequest: 64 << 10,
		Tenants: gate.Tenants{Weights: map[string]int{"acme": 2}},
	}}}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(g.Close)
	return g
}

// BenchmarkAdmitFailsafe is failsafe-go's executor around a bulkhead and no work.
func BenchmarkAdmitFailsafe(b *testing.B) {
	executor := failsafe.With[int](bulkhead.New[int](slots))
	work := func() (int, error) { return 1, nil }
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if n, err := executor.Get(work); n != 1 || err != nil {
				b.Error(n, err)
				return
			}
		}
	})
}

// BenchmarkAdmitGate is the whole gate with the time passed in, by a caller who
// has read the clock already.
func BenchmarkAdmitGate(b *testing.B) {
	g, ctx := newGate(b, slots), context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		at := g.Now()
		for pb.Next() {
			p, r := g.Enter(ctx, gate.Request{Tenant: "acme", At: at})
			if r.Reason != reason.None {
				b.Error(r.Reason)
				return
			}
			p.FinishAt(at, boundary.Outcome{Reason: reason.Served})
		}
	})
}

// BenchmarkAdmitGateClock is the same with both clock reads.
func BenchmarkAdmitGateClock(b *testing.B) {
	g, ctx := newGate(b, slots), context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p, r := g.Enter(ctx, gate.Request{Tenant: "acme"})
			if r.Reason != reason.None {
				b.Error(r.Reason)
				return
			}
			p.Done()
		}
	})
}
