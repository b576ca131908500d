package call_test

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A lookup may take 100 ms in all. Its first attempt is refused, and the second is so
// slow that a third goes beside it and wins. The driver here is a list of what happens
// and when; a live one has a clock, a timer and a connection instead, and does the same
// with each step.
func Example() {
	store, err := call.New(call.Policy{
		Timeout: 60 * time.Millisecond,
		Retries: 2,
		Backoff: call.Backoff{Base: 5 * time.Millisecond, Jitter: call.NoJitter},
		Hedge:   call.Hedge{After: 10 * time.Millisecond},
		Breaker: call.Breaker{Failures: 50},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := func(ms int) unit.Instant { return unit.Instant(0).Add(time.Duration(ms) * time.Millisecond) }

	var lookup call.Call
	show := func(now unit.Instant, s *call.Step) {
		switch s.Do {
		case call.Send:
			store.Sent(now, &lookup, s.Attempt)
			fmt.Printf("%4v: send attempt %d, to be answered by %v (hedge: %v)\n", now, s.Attempt, s.Limit, s.Hedge)
		case call.Answer:
			fmt.Printf("%4v: attempt %d is the answer; cut off %d\n", now, s.Attempt, s.Cancel[0])
		case call.GiveUp:
			fmt.Printf("%4v: given up: %v\n", now, s.Reason)
		default:
			fmt.Printf("%4v: wait until %v\n", now, s.Next)
		}
	}

	show(at(0), store.Begin(at(0), &lookup, call.Request{Deadline: at(100), Idempotent: true}))
	show(at(1), store.Ended(at(1), &lookup, 1, call.Outcome{Result: call.Refused}))
	show(at(6), store.Passed(at(6), &lookup))
	show(at(16), store.Passed(at(16), &lookup))
	show(at(19), store.Ended(at(19), &lookup, 3, call.Outcome{Result: call.OK}))

	s := store.State(at(19))
	fmt.Printf("%d attempts for %d call; breaker %v, %d more retries allowed\n", s.Attempts, s.Calls, s.Breaker, s.BudgetLeft)
	// Output:
	//   0s: send attempt 1, to be answered by 60ms (hedge: false)
	//  1ms: wait until 6ms
	//  6ms: send attempt 2, to be answered by 66ms (hedge: false)
	// 16ms: send attempt 3, to be answered by 66ms (hedge: true)
	// 19ms: attempt 3 is the answer; cut off 2
	// 3 attempts for 1 call; breaker closed, 2 more retries allowed
}
