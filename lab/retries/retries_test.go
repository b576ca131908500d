package retries

import (
	"sync"
	"testing"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
)

// small is the table in two rounds, played once for all tests.
var small = sync.OnceValues(func() (*Document, error) {
	o := Defaults()
	o.Rounds, o.Loads = 2, []float64{160, 280}
	p, err := Table(o, 1)
	if err != nil {
		return nil, err
	}
	return Run(p, nil)
})

func played(t *testing.T) *Document {
	t.Helper()
	d, err := small()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryPredictionHolds(t *testing.T) {
	for _, v := range played(t).Verdicts {
		if v.Verdict != lab.Held {
			t.Errorf("%s: %s: %v %s %v, measured %v", v.Arm, v.Says, v.Figures, v.Is, v.Values, v.Measured)
		}
	}
}

// The paper's own figures: with one retry 160/s becomes 322 offered and none answered,
// with three 280/s becomes 1,121.
func TestThePapersFloods(t *testing.T) {
	d := played(t)
	for arm, offered := range map[string]report.Number{"retry-1-160": 322, "retry-3-160": 644, "retry-1-280": 561, "retry-3-280": 1121, "retry-3-budget-280": 309} {
		m := d.Arms[arm].Median
		if off := m.OfferedAfterPerS / offered; off < 0.98 || off > 1.02 || m.AnsweredAfterPerS > 1 {
			t.Errorf("%s: %v/s offered, %v answered; the paper has %v offered", arm, m.OfferedAfterPerS, m.AnsweredAfterPerS, offered)
		}
	}
}

// The default policy at every load up to 93 % of capacity: from two timeouts after the
// outage's end on, every second has 99 % of its callers answered, in every round.
func TestTheDefaultPolicyComesBackWithinTwoTimeouts(t *testing.T) {
	d := played(t)
	for _, s := range d.settings {
		if s.Policy != "default" || s.PerS > promised*capacityS {
			continue
		}
		for i, r := range d.Arms[s.Name].Rounds {
			if !(r.WorstShare >= healthy) || !(float64(r.RecoveredS) <= float64(2*s.TimeoutS)) {
				t.Errorf("%s, round %d: worst second %v, recovered after %v s", s.Name, i, r.WorstShare, r.RecoveredS)
			}
		}
	}
}

// Without an outage nothing is wrong with any policy that does not tip by itself.
func TestWithoutAnOutageEverybodyIsAnswered(t *testing.T) {
	p, err := Table(Options{Rounds: 1, Loads: []float64{160}, OutFor: 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Run(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range d.ArmOrder {
		if m := d.Arms[name].Median; m.Answered != m.Callers {
			t.Errorf("%s: %d of %d answered", name, m.Answered, m.Callers)
		}
	}
}

func TestOptionsAreBounded(t *testing.T) {
	for _, o := range []Options{{}, {Rounds: 1}, {Rounds: 1001, Loads: []float64{1}}, {Rounds: 1, Loads: []float64{0}}, {Rounds: 1, Loads: []float64{1}, OutFor: 101}} {
		if _, err := Table(o, 1); err == nil {
			t.Errorf("%+v: accepted", o)
		}
	}
}
