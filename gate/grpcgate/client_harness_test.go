package grpcgate_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/grpcgate"
	"github.com/spillway-dev/spillway/policy/call"
)

const ms = time.Millisecond

// unlimited is a budget that forbids nothing.
var unlimited = call.Budget{Off: true}

// tries is a policy that tries again n times, at once.
func tries(n int) call.Policy {
	return call.Policy{Timeout: 20 * time.Second, Retries: n, Budget: unlimited}
}

// hedged is a policy under which a second attempt goes beside one that takes longer.
func hedged(after time.Duration) call.Policy {
	return call.Policy{Hedge: call.Hedge{After: after, Budget: unlimited, SlowShare: 100}}
}

// safe says that both methods may be done twice.
var safe = grpcgate.Idempotent("/test.Echo/*")

func dependency(t testing.TB, p call.Policy) *caller.Caller {
	t.Helper()
	c, err := caller.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// plain is a server of the service without a gate, and a client with the interceptors of
// one policy. grpc's own retries are off, though its service config asks for them.
func plain(t testing.TB, s *service, p call.Policy, opts ...grpcgate.ClientOption) *grpc.ClientConn {
	l := bufconn.Listen(1 << 16)
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, m any, _ *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
		return h(ctx, m)
	}))
	server.RegisterService(&serviceDesc, s)
	return dialed(t, server, l, dependency(t, p), opts...)
}

func dialed(t testing.TB, server *grpc.Server, l *bufconn.Listener, d *caller.Caller, opts ...grpcgate.ClientOption) *grpc.ClientConn {
	go server.Serve(l)
	conn, err := grpc.NewClient("passthrough:///test",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithChainUnaryInterceptor(grpcgate.UnaryClient(d, opts...)),
		grpc.WithChainStreamInterceptor(grpcgate.StreamClient(d, opts...)),
		grpc.WithDefaultServiceConfig(ownRetries), grpc.WithDisableRetry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		server.Stop()
	})
	return conn
}

// ownRetries asks grpc for retries of its own, which are uncounted.
const ownRetries = `{"methodConfig": [{"name": [{}], "retryPolicy": {
	"maxAttempts": 5, "initialBackoff": "0.001s", "maxBackoff": "0.001s", "backoffMultiplier": 1,
	"retryableStatusCodes": ["UNAVAILABLE"]}}]}`

// incoming returns what an attempt says of itself.
func incoming(ctx context.Context, name string) string {
	if v := metadata.ValueFromIncomingContext(ctx, name); len(v) > 0 {
		return v[0]
	}
	return ""
}

// busy is a refusal with a trailer that says when to come back.
func busy(ctx context.Context, pushback string) error {
	grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", pushback))
	return status.Error(codes.Unavailable, "busy")
}

// crowd has n goroutines do something so many times each, one after the other.
func crowd(n, times int, f func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for range times {
				f()
			}
		})
	}
	all.Wait()
}
