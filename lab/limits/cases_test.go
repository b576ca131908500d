package limits

import (
	"math"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/sim"
)

// world is a resource with the default law in front of it.
func world(t *testing.T, forS int, phases ...Phase) *sim.Scenario {
	t.Helper()
	s := Setting{ForS: forS, Phases: phases, law: limit.Knee}
	scenario, err := s.scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	return scenario
}

// seen is the limit at each second, in its state.
func seen(t *testing.T, scenario *sim.Scenario) []limit.State {
	t.Helper()
	var states []limit.State
	scenario.SampleEvery = time.Second
	scenario.Sample = func(_ unit.Instant, machines []*boundary.Machine) {
		states = append(states, machines[0].Limit())
	}
	if _, err := sim.Run(*scenario, nil); err != nil {
		t.Fatal(err)
	}
	return states
}

// mean is the mean limit of seconds.
func mean(states []limit.State) float64 {
	sum := 0
	for _, s := range states {
		sum += s.Limit
	}
	return float64(sum) / float64(len(states))
}

func near(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if math.Abs(got-want) > part*want {
		t.Errorf("%s: a limit of %.1f, want %.1f, give or take %.0f %%", what, got, want, 100*part)
	}
}

// A floor above capacity keeps the resource overloaded: that is said, and nothing is
// learned from it, so that a floor of 1 later finds what the resource can do.
func TestAFloorAboveCapacityIsSaid(t *testing.T) {
	ill := Phase{Capacity: 20, Slower: 1, Load: 1.2}
	scenario := world(t, 20, Phase{Capacity: 100, Slower: 1, Load: 1.2}, Phase{AtS: 5, Capacity: 20, Slower: 1, Load: 1.2})
	scenario.Resources[0].Boundary.Limit.Floor = 80
	states := seen(t, scenario)
	for _, s := range states[8:] {
		if !s.FloorBinds || s.Limit < 80 {
			t.Fatalf("a floor of 80 over a capacity of 20: %+v; it must say that the floor binds", s)
		}
		if s.Baseline > 30*time.Millisecond {
			t.Fatalf("a baseline of %v was learned while the floor binds; calls take 20 ms", s.Baseline)
		}
	}
	states = seen(t, world(t, 20, ill))
	near(t, "from 1 on", mean(states[10:]), 20, 0.25)
	for _, s := range states[10:] {
		if s.FloorBinds {
			t.Errorf("the floor is said to bind at %d", s.Limit)
		}
	}
}

// In a long incident, in which all calls take ten times as long because the resource
// does a tenth, the baseline must not follow them, nor the limit them.
func TestALongIncidentDoesNotMoveTheBaseline(t *testing.T) {
	states := seen(t, world(t, 330, Phase{Capacity: 100, Slower: 1, Load: 1.2},
		Phase{AtS: 10, Capacity: 10, Slower: 1, Load: 1.2}, Phase{AtS: 310, Capacity: 100, Slower: 1, Load: 1.2}))
	after := mean(states[100:130]) // minute 2
	for from := 130; from+30 <= 310; from += 30 {
		if m := mean(states[from : from+30]); m > 1.25*after {
			t.Errorf("from %d s on the limit is %.1f in the mean; in minute 2 it was %.1f", from, m, after)
		}
	}
	near(t, "capacity 10", mean(states[130:310]), 10, 0.25)
	near(t, "after it", mean(states[316:330]), 100, 0.1)
}

// Calls that all end at a timeout take the same time each, and nothing succeeds.
func TestTimeoutsAreDropsAndNoLatency(t *testing.T) {
	scenario := world(t, 24, Phase{Capacity: 100, Slower: 1, Load: 1.2}, Phase{AtS: 5, Capacity: 100, Load: 1.2},
		Phase{AtS: 15, Capacity: 100, Slower: 1, Load: 1.2})
	scenario.Resources[0].Calls[0].Timeout = 200 * time.Millisecond
	states := seen(t, scenario)
	for i, s := range states[9:15] {
		if s.Limit > 1 {
			t.Errorf("%d s after nothing answers any more the limit is %d; only what tries may be in flight", 4+i, s.Limit)
		}
	}
	near(t, "after it", mean(states[20:24]), 100, 0.1)
}

// To look at the baseline must not cost a healthy service anything.
func TestAHealthyServiceIsNeverRefused(t *testing.T) {
	s := Setting{ForS: 120, Phases: []Phase{{Capacity: 100, Slower: 1, Load: 0.5}}, law: limit.Knee}
	c, err := s.play(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := c.result()
	if r.Healthy != 0 {
		t.Errorf("%d refused at half load after the first ten seconds; want none", r.Healthy)
	}
	if share := float64(r.ColdStart) / (coldStart * perS / 2); share > 0.01 {
		t.Errorf("%.1f %% refused in the first ten seconds; want less than 1 %%", 100*share)
	}
}

// Two routes of which one is slow share one limit: two loops would hunt each other.
func TestOneLoopForTwoRoutes(t *testing.T) {
	s := Setting{ForS: 90, Mixed: true, Phases: []Phase{{Capacity: 100, Slower: 1, Load: 1.2, Judged: true, Step: true}}, law: limit.Knee}
	c, err := s.play(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := c.result()
	if !(r.Variation < 0.2) || !(r.Error < 0.1) {
		t.Errorf("work in flight varies by %v, %v off capacity; want under 0.2 and 0.1", r.Variation, r.Error)
	}
}

// A fresh process meets the normal peak.
func TestAColdStartHardlyRefuses(t *testing.T) {
	scenario := world(t, 10, Phase{Capacity: 400, Slower: 1, Load: 2}) // 200 calls at once
	refused, offered := 0, 0
	scenario.Record = func(r *sim.Record) {
		offered++
		if !r.HasStarted {
			refused++
		}
	}
	seen(t, scenario)
	if share := float64(refused) / float64(offered); share > 0.01 {
		t.Errorf("%d of %d refused in the first ten seconds, %.2f %%; want less than 1 %%", refused, offered, 100*share)
	}
}

// Callers who hang up say nothing of the resource.
func TestCallersWhoHangUpDoNotMoveTheLimit(t *testing.T) {
	run := func(patience time.Duration) []limit.State {
		scenario := world(t, 60, Phase{Capacity: 100, Slower: 1, Load: 0.4})
		scenario.Streams[0].Callers.Patience = patience
		return seen(t, scenario)
	}
	patient, hasty := run(0), run(12*time.Millisecond) // a tenth of the calls is quicker
	if p, h := mean(patient[30:]), mean(hasty[30:]); h < 0.5*p {
		t.Errorf("a limit of %.0f where callers hang up, %.0f where they wait", h, p)
	}
	for _, s := range hasty[30:] {
		if s.Limit < 40 {
			t.Fatalf("the limit fell to %d; calls that nobody waits for are no drops", s.Limit)
		}
	}
}
