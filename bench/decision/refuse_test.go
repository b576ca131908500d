package decision

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go/bulkhead"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
)

// BenchmarkRefuseFailsafe is failsafe-go's bulkhead with all permits held. It and
// the policy's refusal are a few nanoseconds each, so they stand in the same loop.
func BenchmarkRefuseFailsafe(b *testing.B) {
	limit := bulkhead.New[int](1)
	if !limit.TryAcquirePermit() {
		b.Fatal("the first permit was refused")
	}
	b.ReportAllocs()
	for b.Loop() {
		if limit.TryAcquirePermit() {
			b.Fatal("admitted")
		}
	}
}

// BenchmarkRefusePolicy is the policy's refusal alone: slots and room are full,
// and the refusal carries a reason and a promised instant.
func BenchmarkRefusePolicy(b *testing.B) {
	m, err := boundary.New(boundary.Config{Name: "app", Classes: []boundary.Class{{
		Name: "checkout",
		Pool: pool.Config{Slots: 40, Latency: 300 * time.Millisecond, Service: 100 * time.Millisecond,
			MemoryLimit: 64 << 20, PerRequest: 64 << 10},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	var out boundary.Effects
	r := boundary.Request{}
	for range 40 + 80 {
		m.Offer(0, &r, &out)
	}
	b.ReportAllocs()
	for b.Loop() {
		if m.Offer(1000, &r, &out).Kind != boundary.Refuse {
			b.Fatal("not refused")
		}
	}
}

// BenchmarkRefuseGate is the whole gate's refusal, time passed in.
func BenchmarkRefuseGate(b *testing.B) {
	g := newGate(b, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, _ := g.Enter(ctx, gate.Request{Tenant: "acme"})
	defer p.Done()
	const room = 2 // 200 ms x 1 slot / 100 ms
	left := make(chan struct{})
	for range room {
		go func() {
			g.Enter(ctx, gate.Request{Tenant: "acme", Timeout: time.Hour})
			left <- struct{}{}
		}()
	}
	for g.States()[0].Waiting < room {
		runtime.Gosched()
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		at := g.Now()
		for pb.Next() {
			if _, r := g.Enter(ctx, gate.Request{Tenant: "acme", At: at, Timeout: time.Minute}); r.Reason != reason.QueueFull {
				b.Error(r.Reason)
				return
			}
		}
	})
	b.StopTimer()
	cancel()
	for range room {
		<-left
	}
}
