package sim_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// Analytics is in need from its second request on, beside three slots of checkout:
// all of what counts is that, warm-up and what comes after the load left out.
func TestIdleWhileRefusing(t *testing.T) {
	for _, c := range []struct {
		name           string
		warmUp, length time.Duration
		borrow         int
		unprotected    bool
		want           string // s of the class, and of all
	}{
		{"three slots for ten seconds", 0, 10 * time.Second, 0, false, "29.97"},
		{"without the warm-up", 4 * time.Second, 10 * time.Second, 0, false, "18"},
		{"one may be borrowed", 4 * time.Second, 10 * time.Second, 1, false, "12"},
		{"all may be", 4 * time.Second, 10 * time.Second, 3, false, "0"},
		{"of unknown length: to the last answer", 4 * time.Second, 0, 0, false, "18.06"},
		{"nobody refuses", 0, 10 * time.Second, 0, true, "null"},
	} {
		class := func(name string, slots, borrow int) boundary.Class {
			return boundary.Class{Name: name, AdmitHopeless: true, Deadline: 100 * ms, Pool: pool.Config{Slots: slots, Borrow: borrow, Bound: 1}}
		}
		var arrivals []workload.Arrival
		for at := time.Duration(0); at < 10*time.Second; at += 10 * ms { // four times as many as all four slots can do
			arrivals = append(arrivals, workload.Arrival{At: at, Service: 160 * ms, Cost: 1})
		}
		r := play(t, sim.Scenario{
			Seed: 1, Names: workload.NewNames(), Check: true, For: c.length, WarmUp: c.warmUp, Unprotected: c.unprotected,
			Resources: []sim.Resource{{Boundary: strict(class("checkout", 3, 0), class("analytics", 1, c.borrow))}},
			Streams:   []sim.Stream{{Source: workload.Slice(arrivals), Class: "analytics"}},
		})
		if got := r.Report.Classes["analytics"].IdleWhileRefusingS.String(); got != c.want {
			t.Errorf("%s: %s s of analytics, want %s", c.name, got, c.want)
		}
		if got := r.Report.IdleWhileRefusingS.String(); got != c.want {
			t.Errorf("%s: %s s in all, want %s", c.name, got, c.want)
		}
		if got := r.Report.Classes["checkout"]; got != nil && got.IdleWhileRefusingS > 0 {
			t.Errorf("%s: %v s of checkout, which needs none", c.name, got.IdleWhileRefusingS)
		}
	}
}
