package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// DESIGN's promise: a service that is offered twice, five times, ten times what
// it can do keeps answering, and says no before anybody waits.
func TestOverloadIsRefusedAtAdmission(t *testing.T) {
	for _, law := range []string{"100ms", "exp:100ms", "lognormal:mean=100ms,p99=250ms"} {
		for _, factor := range []float64{0.5, 2, 5, 10} {
			t.Run(fmt.Sprintf("%s/%vx", law, factor), func(t *testing.T) {
				names := workload.NewNames()
				r := play(t, sim.Scenario{
					Seed: 1, For: 60 * time.Second, WarmUp: 5 * time.Second, Names: names,
					Resources: []sim.Resource{{Boundary: strict(checkout()), Upstream: sim.Upstream{Slots: 40, Service: service(law)}}},
					Streams:   []sim.Stream{{Source: poisson(names, "checkout", 400*factor, 0)}},
				})
				g := r.Report.Classes["checkout"]
				t.Logf("goodput %v p50 %v p99 %v wait p99 %v util %v reasons %v bound %d", g.GoodputPerS, g.P50Ms, g.P99Ms, g.QueueWaitP99Ms, g.Utilisation, g.Reasons, r.Resources[0].Classes[0].Bound)
			})
		}
	}
}
