package caller_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
)

// A price service that is asked again once where that can do no harm, within a budget,
// and not at all while most of what it answers are failures.
func ExampleDo() {
	prices, err := caller.New(call.Policy{
		Timeout: 25 * time.Millisecond,
		Retries: 1,
		Budget:  call.Budget{Percent: 10, Floor: 3},
		Breaker: call.Breaker{Failures: 50},
	})
	if err != nil {
		panic(err)
	}
	price, err := caller.Do(context.Background(), prices, caller.Request{Idempotent: true, Timeout: time.Second},
		func(ctx context.Context, a caller.Attempt) (int, error) {
			if a.Number == 1 {
				return 0, caller.Unsent(errors.New("nobody listens"))
			}
			return 42, nil
		})
	fmt.Println(price, err)
	// Output: 42 <nil>
}

// What a call without an answer says.
func ExampleFailure() {
	prices, err := caller.New(call.Policy{})
	if err != nil {
		panic(err)
	}
	_, err = caller.Do(context.Background(), prices, caller.Request{}, func(context.Context, caller.Attempt) (int, error) {
		return 0, caller.Refused(errors.New("too busy"), 2*time.Second)
	})
	if f, ok := errors.AsType[*caller.Failure](err); ok {
		fmt.Println(f.Reason, f.Attempts, f.RetryAfter)
		fmt.Println(f)
	}
	// Output:
	// failed 1 2s
	// spillway: failed: too busy
}
