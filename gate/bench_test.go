package gate_test

import (
	"context"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

func benchGate(b *testing.B, slots int) *gate.Gate {
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

// BenchmarkAdmit is one request of a named tenant that finds a slot: the whole
// gate, with the time passed in.
func BenchmarkAdmit(b *testing.B) {
	g := benchGate(b, 1000)
	ctx := context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		at := g.Now()
		for pb.Next() {
			p, _ := g.Enter(ctx, gate.Request{Tenant: "acme", At: at})
			p.FinishAt(at, boundary.Outcome{Reason: reason.Served})
		}
	})
}

// BenchmarkAdmitClock is the same with both clock reads.
func BenchmarkAdmitClock(b *testing.B) {
	g := benchGate(b, 1000)
	ctx := context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p, _ := g.Enter(ctx, gate.Request{Tenant: "acme"})
			p.Done()
		}
	})
}

// BenchmarkRefuse is one request that finds slots and room full.
func BenchmarkRefuse(b *testing.B) {
	g := benchGate(b, 0+1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, _ := g.Enter(ctx, gate.Request{})
	defer p.Done()
	full := make(chan struct{})
	for range 2 {
		go func() { g.Enter(ctx, gate.Request{Timeout: time.Hour}); full <- struct{}{} }()
	}
	for g.States()[0].Waiting < 2 {
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		at := g.Now()
		for pb.Next() {
			if _, r := g.Enter(ctx, gate.Request{At: at, Timeout: time.Minute}); r.Reason != reason.QueueFull {
				b.Error(r.Reason)
				return
			}
		}
	})
	b.StopTimer()
	cancel()
	<-full
	<-full
}
