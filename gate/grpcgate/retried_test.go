package grpcgate_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/grpcgate"
)

// Who says that it has tried before goes after who does not, if callers are heeded, and
// nothing that a caller can write has it go before anybody.
func TestRetriesGoLastWhereTheyAreHeeded(t *testing.T) {
	for _, k := range []struct {
		name, key, value string
		off, last        bool
	}{
		{"gRPC's second", "grpc-previous-rpc-attempts", "1", false, true},
		{"Envoy's second", "x-envoy-attempt-count", "2", false, true},
		{"an SDK's second", "x-stainless-retry-count", "1", false, true},
		{"not heeded", "x-envoy-attempt-count", "2", true, false},
		{"Envoy's first", "x-envoy-attempt-count", "1", false, false},
		{"negative", "x-envoy-attempt-count", "-1", false, false},
		{"huge", "grpc-previous-rpc-attempts", "99999999999999999999", false, false},
	} {
		g := open(t, gate.Class{Pool: gate.Pool{Slots: 1, Latency: time.Minute, Bound: 8, RetriesLast: true}})
		var mu sync.Mutex
		var order []string
		conn := setup{gate: g, opts: []grpcgate.Option{grpcgate.HeedRetries(!k.off)}}.start(t, &service{say: func(_ context.Context, in *text) (*text, error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, in.Value)
			return in, nil
		}})
		release := hold(t, g, 1)
		var all sync.WaitGroup
		for i, name := range []string{"before", "claims", "after"} {
			ctx := minute(t)
			if name == "claims" {
				ctx = metadata.AppendToOutgoingContext(ctx, k.key, k.value)
			}
			all.Go(func() { say(ctx, conn, name) })
			eventually(t, "it to wait", func() bool { return g.States()[0].Waiting == i+1 })
		}
		release()
		all.Wait()
		want := []string{"before", "claims", "after"}
		if k.last {
			want = []string{"before", "after", "claims"}
		}
		if !slices.Equal(order, want) {
			t.Errorf("%s: served %q, want %q", k.name, order, want)
		}
	}
}
