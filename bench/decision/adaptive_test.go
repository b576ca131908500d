package decision

import (
	"context"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
)

// BenchmarkAdaptiveFailsafe is failsafe-go's adaptive limiter with its defaults: a
// permit taken and its time recorded.
func BenchmarkAdaptiveFailsafe(b *testing.B) {
	l := adaptivelimiter.NewBuilder[any]().WithLimits(slots, slots, slots).Build()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p, ok := l.TryAcquirePermit()
			if !ok {
				b.Error("refused")
				return
			}
			p.Record()
		}
	})
}

// BenchmarkAdaptiveGate is the whole gate with a limit that adapts, which learns from
// every call; the time is passed in, by a caller who has read the clock already.
func BenchmarkAdaptiveGate(b *testing.B) {
	g, ctx := adaptiveGate(b), context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for at := g.Now(); pb.Next(); at = at.Add(time.Microsecond) {
			p, r := g.Enter(ctx, gate.Request{At: at})
			if r.Reason != reason.None {
				b.Error(r.Reason)
				return
			}
			p.FinishAt(at.Add(time.Microsecond), boundary.Outcome{Reason: reason.Served})
		}
	})
}

// BenchmarkAdaptiveGateClock is the same with both clock reads.
func BenchmarkAdaptiveGateClock(b *testing.B) {
	g, ctx := adaptiveGate(b), context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p, r := g.Enter(ctx, gate.Request{})
			if r.Reason != reason.None {
				b.Error(r.Reason)
				return
			}
			p.Done()
		}
	})
}

func adaptiveGate(b *testing.B) *gate.Gate {
	b.Helper()
	g, err := gate.New(boundary.Config{
		Name: "app", Classes: []boundary.Class{{Name: "all", Pool: pool.Config{Slots: slots}}},
		Limit: limit.Config{Law: limit.Knee, Start: slots, Floor: slots},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(g.Close)
	return g
}
