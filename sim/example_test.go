package sim_test

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// A service that can do 400 requests a second is offered 800 for a minute,
// without and with a boundary in front of it.
func Example() {
	for _, unprotected := range []bool{true, false} {
		names := workload.NewNames()
		rate, _ := workload.ConstantRate(800)
		source, _ := workload.Spec{Seed: 1, Stream: "checkout", Rate: rate}.Source(names)
		service, _ := workload.ConstantService(100 * time.Millisecond)

		result, err := sim.Run(sim.Scenario{
			Seed: 1, For: time.Minute, Names: names, Unprotected: unprotected,
			Resources: []sim.Resource{{
				Boundary: boundary.Config{Name: "app", Classes: []boundary.Class{{
					Name: "checkout", Deadline: 300 * time.Millisecond,
					Pool: pool.Config{Slots: 40, Latency: 300 * time.Millisecond, Service: 100 * time.Millisecond},
				}}},
				Upstream: sim.Upstream{Slots: 40, Service: service},
			}},
			Streams: []sim.Stream{{Source: source}},
		}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("goodput %.0f/s, %.0f %% of the work was of use to somebody\n",
			result.Report.GoodputPerS, 100*result.Resources[0].UsefulShare())
	}
	// Output:
	// goodput 3/s, 1 % of the work was of use to somebody
	// goodput 399/s, 100 % of the work was of use to somebody
}
