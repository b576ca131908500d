package sim_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// asking offers the class of DESIGN's example what callers of a kind make of so many
// requests a second.
func asking(t *testing.T, callers sim.Callers, perSecond float64) *sim.Result {
	t.Helper()
	names := workload.NewNames()
	return play(t, sim.Scenario{
		Seed: 1, For: 8 * time.Second, Names: names, Check: true,
		Resources: []sim.Resource{{Boundary: strict(checkout()), Upstream: sim.Upstream{Slots: 40, Service: service("100ms")}}},
		Streams:   []sim.Stream{{Source: poisson(names, "checkout", perSecond, 0), Callers: callers}},
	})
}

// Callers who use the library and make one attempt are callers who ask once.
func TestAClientOfOneAttemptAsksOnce(t *testing.T) {
	for _, perSecond := range []float64{300, 800} {
		plain := asking(t, sim.Callers{}, perSecond)
		library := asking(t, sim.Callers{Library: new(call.Policy)}, perSecond)
		a, b := must(json.Marshal(plain.Report)), must(json.Marshal(library.Report))
		if !bytes.Equal(a, b) {
			t.Errorf("at %g/s:\nplain   %s\nlibrary %s", perSecond, a, b)
		}
		if plain.Callers[0] != library.Callers[0] {
			t.Errorf("at %g/s: %+v, %+v", perSecond, plain.Callers[0], library.Callers[0])
		}
	}
}

// At twice what can be done two retries each would offer it nearly four times as
// much; a budget of a tenth holds it to a tenth more.
func TestABudgetHoldsWhatClientsOffer(t *testing.T) {
	p := call.Policy{Retries: 2, Backoff: call.Backoff{Base: 10 * time.Millisecond}}
	p.Budget = call.Budget{Off: true}
	without := asking(t, sim.Callers{Library: &p}, 800).Callers[0]
	p.Budget = call.Budget{Percent: 10, Floor: 3}
	with := asking(t, sim.Callers{Library: &p}, 800).Callers[0]
	if r := float64(with.Attempts) / float64(with.Callers); r < 1.05 || r > 1.11 {
		t.Errorf("with a budget %.3f attempts a caller", r)
	}
	if r := float64(without.Attempts) / float64(without.Callers); r < 1.5 {
		t.Errorf("without a budget %.3f attempts a caller", r)
	}
	if with.Answered+with.GaveUp != with.Callers {
		t.Errorf("the callers' sums do not close: %+v", with)
	}
}

// A client that gives up on an attempt hangs up: the boundary counts it as gone, and
// the next attempt is another request.
func TestAClientThatGivesUpHangsUp(t *testing.T) {
	p := call.Policy{Timeout: 50 * time.Millisecond, Retries: 1}
	p.Budget = call.Budget{Off: true}
	r := asking(t, sim.Callers{Library: &p, Deadline: time.Second}, 100)
	c := r.Report.Classes["checkout"]
	if gone := c.Reasons["caller_gone"]; gone != c.Offered || c.Offered != 2*r.Callers[0].Callers || r.Callers[0].GaveUp != r.Callers[0].Callers {
		t.Errorf("of %d offered %d were given up; callers %+v", c.Offered, gone, r.Callers[0])
	}
}
