package calls

import (
	"context"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
)

// limit is more than any call takes here: what is measured is that there is one.
const limit = time.Second

func withFailsafe(b *testing.B, policies ...failsafe.Policy[int]) {
	executor := failsafe.With(policies...)
	work := func() (int, error) { return 1, nil }
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if n, err := executor.Get(work); n != 1 || err != nil {
				b.Error(n, err)
				return
			}
		}
	})
}

func withCaller(b *testing.B, p call.Policy, r caller.Request) {
	c, err := caller.New(p)
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	work := func(context.Context, caller.Attempt) (int, error) { return 1, nil }
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if n, err := caller.Do(ctx, c, r, work); n != 1 || err != nil {
				b.Error(n, err)
				return
			}
		}
	})
}

// breaker opens at half of the calls of 10 s.
var breaker = call.Breaker{Failures: 50, Window: 10 * time.Second}

// BenchmarkCallPlainFailsafe is retry, breaker and bulkhead: no timer.
func BenchmarkCallPlainFailsafe(b *testing.B) {
	withFailsafe(b,
		retrypolicy.NewBuilder[int]().WithMaxRetries(2).WithBackoff(5*time.Millisecond, 20*time.Millisecond).Build(),
		circuitbreaker.NewBuilder[int]().WithFailureRateThreshold(0.5, 20, 10*time.Second).Build(),
		bulkhead.New[int](1000))
}

// BenchmarkCallPlain is a call without a timer or a hedge: retries out of their budget,
// and the breaker.
func BenchmarkCallPlain(b *testing.B) {
	withCaller(b, call.Policy{
		Retries: 2, Backoff: call.Backoff{Base: 5 * time.Millisecond, Max: 20 * time.Millisecond}, Breaker: breaker,
	}, caller.Request{Idempotent: true})
}

// BenchmarkCallFullFailsafe is retry, breaker and timeout.
func BenchmarkCallFullFailsafe(b *testing.B) {
	withFailsafe(b,
		retrypolicy.NewBuilder[int]().WithMaxRetries(2).WithBackoff(5*time.Millisecond, 20*time.Millisecond).Build(),
		circuitbreaker.NewBuilder[int]().WithFailureRateThreshold(0.5, 20, 10*time.Second).Build(),
		timeout.New[int](limit))
}

// BenchmarkCallFull is a call through the full policy: a deadline of its own, a limit for
// each try, retries out of their budget, the breaker, and a hedge armed.
func BenchmarkCallFull(b *testing.B) {
	withCaller(b, call.Policy{
		Timeout: limit, Retries: 2, Backoff: call.Backoff{Base: 5 * time.Millisecond, Max: 20 * time.Millisecond}, Breaker: breaker,
		Hedge: call.Hedge{After: limit / 2},
	}, caller.Request{Idempotent: true, Timeout: 2 * limit})
}

// BenchmarkCallLimit is the same without the hedge.
func BenchmarkCallLimit(b *testing.B) {
	withCaller(b, call.Policy{
		Timeout: limit, Retries: 2, Backoff: call.Backoff{Base: 5 * time.Millisecond, Max: 20 * time.Millisecond}, Breaker: breaker,
	}, caller.Request{Idempotent: true, Timeout: 2 * limit})
}
