package caller_test

import (
	"context"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
)

func breaker() call.Breaker { return call.Breaker{Failures: 50} }

// BenchmarkDo is a call whose work is nothing: what the policy around it costs. See
// bench/calls for the same beside a peer.
func BenchmarkDo(b *testing.B) {
	answer := func(context.Context, caller.Attempt) (int, error) { return 1, nil }
	for _, k := range []struct {
		name   string
		policy call.Policy
	}{
		{"plain", call.Policy{Retries: 2, Breaker: breaker()}},
		{"limit", call.Policy{Retries: 2, Breaker: breaker(), Timeout: time.Second}},
		{"hedge", call.Policy{Retries: 2, Breaker: breaker(), Timeout: time.Second, Hedge: call.Hedge{After: 100 * ms}}},
	} {
		b.Run(k.name, func(b *testing.B) {
			c, ctx := open(b, k.policy), context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if v, err := caller.Do(ctx, c, safe, answer); v != 1 || err != nil {
					b.Fatal(v, err)
				}
			}
		})
	}
}
