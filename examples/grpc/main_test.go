package main

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// A hundred calls at once, through a real server: at least those who can be
// served inside the budget are, every other is told so with the instant at which
// to come back, and the service is well all the while.
func TestGRPC(t *testing.T) {
	l := bufconn.Listen(1 << 16)
	s := newServer()
	go s.Serve(l)
	defer s.Stop()
	conn, err := grpc.NewClient("passthrough:///example",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	var mu sync.Mutex
	got := map[codes.Code]int{}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			var trailer metadata.MD
			out := new(wrapperspb.StringValue)
			err := conn.Invoke(ctx, methodHello, wrapperspb.String("you"), out, grpc.Trailer(&trailer))
			switch status.Code(err) {
			case codes.OK:
				if out.Value != "hello you" {
					t.Errorf("answer %q", out.Value)
				}
			case codes.Unavailable:
				if len(trailer["grpc-retry-pushback-ms"]) != 1 || len(trailer["spillway-reason"]) != 1 {
					t.Errorf("refusal %v", trailer)
				}
			default:
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[status.Code(err)]++
		})
	}
	well, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	if err != nil || well.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", well, err)
	}
	all.Wait()
	// Four slots and eight in the room. On a machine so slow that not all hundred
	// come before the first is served there are more.
	if got[codes.OK] < 12 || got[codes.OK]+got[codes.Unavailable] != 100 {
		t.Errorf("answers by code: %v; want at least 12 times OK, the others Unavailable", got)
	}
}
