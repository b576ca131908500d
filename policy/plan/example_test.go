package plan_test

import (
	"fmt"
	"os"
	"time"

	"github.com/spillway-dev/spillway/policy/plan"
)

// The waiting room of a checkout: 300 ms in all, 100 ms of it service, 40 slots.
func ExampleBound() {
	in := plan.BoundInput{
		AllowedWait: plan.AllowedWait(300*time.Millisecond, 100*time.Millisecond),
		Slots:       40,
		Holding:     100 * time.Millisecond,
		MemoryLimit: 64 << 20,
		PerRequest:  64 << 10,
	}
	fmt.Println(plan.Bound(in))
	in.MemoryLimit = 2 << 20
	fmt.Println(plan.Bound(in))
	// Output:
	// 80 latency budget
	// 32 memory
}

// Three layers that each try three times.
func ExampleAmplification() {
	fmt.Println(plan.Amplification(3, 3, 3))
	// Output: 27
}

// A feature store that one lookup in a hundred holds for 1.5 s: where it tips.
func ExampleStableBelow() {
	mean := plan.MeanService([]plan.ServicePart{
		{Weight: 0.99, Time: 2900 * time.Microsecond},
		{Weight: 0.01, Time: 1500 * time.Millisecond},
	})
	sustainable := plan.Throughput(16, mean)
	fmt.Println("a call holds its slot for", mean)
	fmt.Printf("sustainable %.0f/s\n", sustainable)
	fmt.Printf("stable below %.0f/s with 3 attempts\n", plan.StableBelow(sustainable, plan.SustainedAttempts(3, 0, true)))
	fmt.Printf("stable below %.0f/s with a retry budget of 10 %%\n", plan.StableBelow(sustainable, plan.SustainedAttempts(3, 0.1, false)))
	// Output:
	// a call holds its slot for 17.871ms
	// sustainable 895/s
	// stable below 298/s with 3 attempts
	// stable below 814/s with a retry budget of 10 %
}

// A whole config, for the terminal.
func ExampleWriteText() {
	p := plan.Make(plan.Input{
		Upstreams: []plan.Upstream{{Name: "app", Slots: 6, Service: plan.Constant(time.Second)}},
		Classes: []plan.Class{{
			Name: "checkout", Upstream: "app", Slots: plan.Fixed(6),
			Budget:   plan.Budget{Latency: 3 * time.Second, Service: time.Second},
			Memory:   plan.Memory{Limit: 64 << 20, PerRequest: 64 << 10},
			Deadline: 4 * time.Second, MaxDeadline: 10 * time.Second,
			Expect: plan.Expect{Rate: 10},
		}},
	})
	if err := plan.WriteText(os.Stdout, p); err != nil {
		fmt.Println(err)
	}
	// Output:
	// More is expected than can be served: upstream app, class checkout.
	//
	// warnings
	// - upstream app: unstable at the expected 10/s: it sustains 6/s, the rest queues or is turned away;
	//   11 slots would carry it
	// - class checkout: 10/s arrive and 6/s can be served: the backlog grows by 4/s, the room of 12 is
	//   full in 3 s and then 4/s are turned away (when_full: reject); 10 slots would just serve all, or
	//   give it a ladder
	//
	// upstream app (unstable)
	//   mean_service_s                        1 s  sum of share x time over 1 part
	//                                              if: the mix holds under load; a call runs to its end
	//                                              although its caller left
	//   sustainable_per_s                     6/s  slots / mean service = 6 / 1s
	//                                              if: no slot idle; service times do not grow with load
	//   stable_below_per_s                    6/s  sustainable / min(attempts, 1 + retry budget) = 6/s / 1
	//                                              if: every attempt fails; retries of callers are held
	//                                              off by admission and not counted
	//   metastable_below_per_s                6/s  sustainable
	//                                              if: retries do not let up: from stable_below on, one
	//                                              bad second lasts
	//   expected_per_s                       10/s  sum of expect.rate of its classes
	//                                              if: first tries, all admitted; a class without a rate
	//                                              counts as none
	//   recovery_s                          never  waiting / (sustainable - expected) = 12 / (6/s - 10/s)
	//                                              if: after 10 s without an answer; the queue is
	//                                              spillway's: what expired is never run, the rest is at
	//                                              most the bounds; new requests are served at once
	//                                              meanwhile, as the order is not fifo
	//   recovery_in_order_s                 never  attempts x expected x (outage - limit) / (sustainable -
	//                                              attempts x expected), limit 4 s
	//                                              if: the same outage where a queue runs all in the order
	//                                              it came, the dead too; until its head is younger than
	//                                              the limit all is tried again
	//
	// class checkout (6 slots)
	//   throughput_per_s                      6/s  slots / service = 6 / 1s
	//                                              if: no slot idle, one attempt a request; mean service
	//                                              time of upstream app
	//   allowed_wait_s                        2 s  budget.latency - budget.service
	//                                              if: the service time of the budget holds while a full
	//                                              room is served
	//   bound                         12 requests  allowed wait x throughput = 2 s x 6/s (latency budget)
	//                                              if: throughput holds while the room drains; re-derived
	//                                              live as it moves
	//   retained_bytes                    768 KiB  bound x worst request = 12 x 64 KiB
	//                                              if: every waiter retains the worst case; running
	//                                              requests come on top
	//   drain_s                               2 s  bound / throughput
	//                                              if: the wait of the last of a full room; no long call
	//                                              stands in the way
	//   backlog_growth_per_s                  4/s  arrivals - throughput = 10/s - 6/s, not below 0
	//                                              if: sustained arrivals
	//   buffer_fill_s                         3 s  bound / backlog growth
	//                                              if: sustained arrivals into an empty room; a burst that
	//                                              ends can drain
	//   in_system                     18 requests  throughput x service + bound
	//                                              if: not stable: the room is full and stays so
	//   amplification                      1 call  product of the attempts of each layer = 1
	//                                              if: every attempt fails at the bottom; one request can
	//                                              spend a budget's floor, so no budget is counted
	//   sustained_attempts                 1 call  attempts
	//                                              if: all calls fail for long
	//   proposed_timeout_s                    1 s  least time that all but 0.1 % of the service mix stay
	//                                              within
	//                                              if: the mix holds under load and says how long the
	//                                              longest take
	//
	// all classes
	//   amplification_max                  1 call  largest product of attempts over the layers of a class
	//                                              if: every attempt fails at the bottom
}
