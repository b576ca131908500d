//go:build !race

// The race detector makes a pool forget at random.

package caller_test

import (
	"context"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
)

// What a call allocates: nothing where its caller's context is passed on, one object
// for an attempt's limit, one for a whole call with a hedge armed.
func TestAllocations(t *testing.T) {
	soon, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	answer := func(context.Context, caller.Attempt) (int, error) { return 1, nil }
	for _, k := range []struct {
		name   string
		ctx    context.Context
		policy call.Policy
		ask    caller.Request
		most   float64
	}{
		{"breaker and retries", context.Background(), call.Policy{Retries: 2, Breaker: breaker()}, safe, 0},
		{"a context with a deadline that is sooner than the limit", soon, call.Policy{Timeout: 2 * time.Hour, Retries: 2, Breaker: breaker()}, safe, 0},
		{"a limit for each try", context.Background(), call.Policy{Timeout: time.Second, Retries: 2, Breaker: breaker()}, safe, 1},
		{"a hedge armed", soon, call.Policy{Timeout: time.Second, Retries: 2, Breaker: breaker(), Hedge: call.Hedge{After: 100 * ms}}, safe, 1},
		{"a hedge armed for what cannot be sent twice", soon, call.Policy{Retries: 2, Hedge: call.Hedge{After: 100 * ms}}, caller.Request{Fixed: true}, 0},
	} {
		c := open(t, k.policy)
		n := testing.AllocsPerRun(1000, func() {
			if v, err := caller.Do(k.ctx, c, k.ask, answer); v != 1 || err != nil {
				t.Fatal(v, err)
			}
		})
		if n > k.most {
			t.Errorf("%s: %v allocations, want at most %v", k.name, n, k.most)
		}
	}
}
