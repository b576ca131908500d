package grpcgate_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/grpcgate"
)

// BenchmarkUnary is the interceptor by itself: what a refusal costs beside a
// request that is served by a handler that does nothing.
func BenchmarkUnary(b *testing.B) {
	handler := func(context.Context, any) (any, error) { return nil, nil }
	for _, c := range []struct {
		name string
		held int
	}{{"served", 0}, {"refused", 1}} {
		b.Run(c.name, func(b *testing.B) {
			g := open(b, full())
			defer hold(b, g, c.held)()
			intercept := grpcgate.UnaryServerInterceptor(g)
			ctx := grpc.NewContextWithServerTransportStream(context.Background(), nowhere{})
			b.ReportAllocs()
			for b.Loop() {
				intercept(ctx, nil, &grpc.UnaryServerInfo{FullMethod: methodSay}, handler)
			}
		})
	}
}

// BenchmarkWire is the whole call, client included: with no gate, served behind
// one, and refused by it.
func BenchmarkWire(b *testing.B) {
	for _, c := range []struct {
		name string
		held int
	}{{"served", 0}, {"refused", 1}} {
		b.Run(c.name, func(b *testing.B) {
			g := open(b, gate.Class{Pool: gate.Pool{Slots: 1, Latency: time.Millisecond, Service: time.Millisecond}})
			defer hold(b, g, c.held)()
			conn := setup{gate: g}.start(b, &service{say: echo})
			say(context.Background(), conn, "hi")
			for b.Loop() {
				say(context.Background(), conn, "hi")
			}
		})
	}
}
