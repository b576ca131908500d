package sim_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// across is the class of DESIGN's example in front of copies, at 300 a second.
func across(t *testing.T, up sim.Upstream, perSecond float64) *sim.Result {
	t.Helper()
	names := workload.NewNames()
	up.Slots, up.Service = 40, service("100ms")
	return play(t, sim.Scenario{
		Seed: 1, For: 30 * time.Second, Names: names, Check: true,
		Resources: []sim.Resource{{Boundary: strict(checkout()), Upstream: up}},
		Streams:   []sim.Stream{{Source: poisson(names, "checkout", perSecond, 0)}},
	})
}

// As long as the class is held to what the copies can do together, least loaded never
// sends one to a copy that is full while another is free: four copies with ten slots
// each do to the last byte what one with forty does, overload included.
func TestEqualCopiesAreAsGoodAsOne(t *testing.T) {
	for _, perSecond := range []float64{300, 800} {
		one := must(json.Marshal(across(t, sim.Upstream{}, perSecond).Report))
		four := must(json.Marshal(across(t, sim.Upstream{Copies: 4}, perSecond).Report))
		if !bytes.Equal(one, four) {
			t.Errorf("at %g/s:\none  %s\nfour %s", perSecond, one, four)
		}
	}
}

// One of two copies freezes for good after five seconds. What it was given is lost, and
// its callers are told at their deadline; ejected, it gets no more but single
// trials. Without ejection it goes on taking one for each that it lets go.
func TestAFrozenCopyInVirtualTime(t *testing.T) {
	frozen := must(workload.ParseConditions("outage@5s+10m"))
	lost := func(keep bool) (late, served int64) {
		class := checkout()
		class.HoldAtMost = time.Second // or it would hold all slots, ejected or not
		names := workload.NewNames()
		up := sim.Upstream{
			Slots: 40, Service: service("100ms"), Copies: 2, CopyConditions: []workload.Conditions{frozen},
			NoticesCancel: true, Spread: spread.Config{Keep: keep},
		}
		r := play(t, sim.Scenario{
			Seed: 1, For: 30 * time.Second, Names: names, Check: true,
			Resources: []sim.Resource{{Boundary: strict(class), Upstream: up}},
			Streams:   []sim.Stream{{Source: poisson(names, "checkout", 100, 0)}},
		})
		c := r.Report.Classes["checkout"]
		return c.Reasons[reason.Timeout.String()], c.Reasons[reason.Served.String()]
	}
	late, served := lost(false)
	lateKept, servedKept := lost(true)
	if late == 0 || late*4 > lateKept || served <= servedKept {
		t.Errorf("late %d, served %d; without ejection %d and %d", late, served, lateKept, servedKept)
	}
	if late > 60 {
		t.Errorf("%d were late; a frozen copy gets a handful, and a trial now and then", late)
	}
}

func TestCopiesAreBounded(t *testing.T) {
	names := workload.NewNames()
	_, err := sim.Run(sim.Scenario{
		Names: names, Resources: []sim.Resource{{Boundary: strict(checkout()), Upstream: sim.Upstream{Copies: 1000}}},
	}, nil)
	if err == nil {
		t.Error("a thousand copies")
	}
}
