package store_test

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/sim/store"
)

// Ten seconds of a service that waits 25 ms for a store in which 1 lookup in 100
// freezes.
func Example() {
	run, err := store.New(store.Scenario{
		Draws: store.NewDraws(1, 0, store.Freezing, 0), Rate: 300, For: 10 * time.Second, Senders: 64,
		Policy: call.Policy{Timeout: 25 * time.Millisecond}, Store: store.Store{Slots: 16},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	unanswered := 0
	sums, err := run.Play(store.Watch{Request: func(q *store.Request) {
		if q.Reason != reason.Served {
			unanswered++
		}
	}})
	fmt.Println(sums.Requests, "requests,", unanswered, "without an answer", err)
	// Output: 3011 requests, 50 without an answer <nil>
}
