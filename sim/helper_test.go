package sim_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// service reads a law of service times.
func service(text string) workload.Service { return must(workload.ParseService(text)) }

// poisson is a stream of Poisson arrivals, told apart from others by its name.
func poisson(names *workload.Names, name string, perSecond float64, deadline time.Duration) workload.Source {
	return must(workload.Spec{
		Seed: 1, Stream: name, Rate: must(workload.ConstantRate(perSecond)), Deadline: deadline,
	}.Source(names))
}

// checkout is the class of DESIGN's example: 40 slots of 100 ms inside 300 ms.
func checkout() boundary.Class {
	return boundary.Class{
		Name: "checkout",
		Pool: pool.Config{
			Slots: 40, Latency: 300 * time.Millisecond, Service: 100 * time.Millisecond,
			MemoryLimit: 64 << 20, PerRequest: 64 << 10,
		},
		Deadline: 300 * time.Millisecond, DeadlineMax: time.Second,
	}
}

// strict is the configuration of one resource with these classes, in which a
// broken invariant panics.
func strict(classes ...boundary.Class) boundary.Config {
	return boundary.Config{Name: "app", Classes: classes, Strict: true, Seed: 1}
}

// play runs a scenario and fails the test where it cannot.
func play(t testing.TB, s sim.Scenario) *sim.Result {
	t.Helper()
	if s.Names == nil {
		s.Names = workload.NewNames()
	}
	result, err := sim.Run(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
