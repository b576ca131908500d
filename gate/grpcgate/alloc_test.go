//go:build !race

package grpcgate_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/grpcgate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// A refusal allocates its status and its trailer and nothing else: it sets up
// nothing for a handler that will not run.
func TestARefusalAllocatesItsAnswerOnly(t *testing.T) {
	g := open(t, full())
	defer hold(t, g, 1)()
	intercept := grpcgate.UnaryServerInterceptor(g)
	ctx := grpc.NewContextWithServerTransportStream(context.Background(), nowhere{})
	handler := func(context.Context, any) (any, error) { t.Error("it ran"); return nil, nil }
	info := &grpc.UnaryServerInfo{FullMethod: methodSay}
	refusal := testing.AllocsPerRun(1000, func() { intercept(ctx, nil, info, handler) })
	status := testing.AllocsPerRun(1000, func() {
		_ = grpcgate.Status(gate.Refusal{Reason: reason.QueueFull, RetryAfter: time.Second, Class: "checkout"}).Err()
	})
	if refusal > status {
		t.Errorf("a refusal allocates %v times, its status and trailer %v", refusal, status)
	}
}
