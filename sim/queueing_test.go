package sim_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// erlangC is the mean wait in a queue of Poisson arrivals, exponential service
// and c servers (Erlang 1917), rates per second.
func erlangC(arrivals, mean float64, c int) time.Duration {
	offered := arrivals * mean
	term, sum := 1.0, 1.0
	for k := 1; k < c; k++ {
		term *= offered / float64(k)
		sum += term
	}
	last := term * offered / float64(c) / (1 - offered/float64(c))
	waits := last / (sum + last)
	return time.Duration(waits * mean / (float64(c) - offered) * 1e9)
}

// patient is a class in which everybody waits as long as it takes, first come
// first served.
func patient(slots int) boundary.Class {
	return boundary.Class{
		Name: "patient", Pool: pool.Config{Slots: slots, Order: pool.FIFO, Bound: 1 << 30},
		Deadline: time.Hour, DeadlineMax: time.Hour, AdmitHopeless: true,
	}
}

// waits plays a scenario of one patient class for several seeds and returns the
// mean wait with its standard error, warm-up left out.
func waits(t *testing.T, perSecond float64, slots int, law string, unprotected bool) (mean, deviation float64) {
	t.Helper()
	const seeds = 12
	var sum, squares float64
	for seed := range uint64(seeds) {
		names := workload.NewNames()
		source := must(workload.Spec{
			Seed: seed, Stream: "patient", Rate: must(workload.ConstantRate(perSecond)),
		}.Source(names))
		var waited time.Duration
		var n int64
		r := play(t, sim.Scenario{
			Seed: seed, For: time.Duration(25_000 / perSecond * 1e9), WarmUp: time.Duration(2_500 / perSecond * 1e9), Names: names,
			Unprotected: unprotected,
			Resources:   []sim.Resource{{Boundary: strict(patient(slots)), Upstream: sim.Upstream{Slots: slots, Service: service(law)}}},
			Streams:     []sim.Stream{{Source: source}},
			Record: func(rec *sim.Record) {
				if rec.Counted {
					waited += time.Duration(rec.Started - rec.Arrived)
					n++
				}
			},
		})
		if got := r.Report.Reasons["served"]; got != r.Report.Offered {
			t.Fatalf("%d of %d were served", got, r.Report.Offered)
		}
		w := waited.Seconds() / float64(n)
		sum += w
		squares += w * w
	}
	mean = sum / seeds
	return mean, math.Sqrt((squares/seeds - mean*mean) / (seeds - 1))
}

// The queue before the slots of the boundary, and the upstream's own line
// without it, are the textbook's.
func TestWaitsAreErlangs(t *testing.T) {
	for _, c := range []struct {
		load  float64
		slots int
		law   string
	}{
		{0.5, 1, "exp:10ms"}, {0.8, 1, "exp:10ms"}, {0.8, 4, "exp:10ms"}, {0.9, 16, "exp:10ms"}, {0.7, 40, "exp:100ms"},
		{0.5, 1, "10ms"}, {0.8, 1, "10ms"}, // M/D/1 waits half as long as M/M/1: Pollaczek and Khinchine
	} {
		for _, unprotected := range []bool{false, true} {
			name := fmt.Sprintf("%v of %d, %s, unprotected %v", c.load, c.slots, c.law, unprotected)
			t.Run(name, func(t *testing.T) {
				svc := service(c.law)
				mean := svc.Mean().Seconds()
				perSecond := c.load * float64(c.slots) / mean
				want := erlangC(perSecond, mean, c.slots).Seconds()
				if c.law == svc.Mean().String() {
					want /= 2
				}
				got, deviation := waits(t, perSecond, c.slots, c.law, unprotected)
				if math.Abs(got-want) > 4*deviation+0.001*want {
					t.Errorf("mean wait %.4g s, want %.4g s within 4 x %.2g", got, want, deviation)
				}
				if deviation > 0.15*want {
					t.Errorf("the runs scatter by %.0f %%: too much to say anything", 100*deviation/want)
				}
			})
		}
	}
}

// Little's law, L = lambda W, holds on every run exactly: what the run
// integrates over time is what its requests add up to.
func TestLittlesLawHoldsExactly(t *testing.T) {
	for _, factor := range []float64{0.5, 0.95, 1.5, 5} {
		names := workload.NewNames()
		cl := checkout()
		var waited, held time.Duration
		r := play(t, sim.Scenario{
			Seed: 3, For: 20 * time.Second, Names: names,
			Resources: []sim.Resource{{Boundary: strict(cl), Upstream: sim.Upstream{Slots: 40, Service: service("lognormal:mean=100ms,p99=400ms")}}},
			Streams: []sim.Stream{{
				Source:  poisson(names, "a", 400*factor, 0),
				Callers: sim.Callers{Patience: 250 * time.Millisecond, Retries: 1},
			}},
			Record: func(rec *sim.Record) {
				left := rec.Answered
				if rec.HasStarted {
					left = rec.Started
				}
				waited += time.Duration(left - rec.Arrived)
			},
		})
		held = r.Resources[0].Busy // as many slots as servers: nobody stands in the upstream's line
		if got := r.Resources[0]; got.WaitedFor != waited || got.HeldFor != held {
			t.Errorf("%vx: integrated over time %v waited and %v held; added up over requests %v and %v",
				factor, got.WaitedFor, got.HeldFor, waited, held)
		}
		if idle := r.Resources[0].IdleWhileRefusing; idle != 0 {
			t.Errorf("%vx: a slot was idle for %v while somebody waited", factor, idle)
		}
	}
}
