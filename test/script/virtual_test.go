package script_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/tally"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// tape writes down what a machine is told and what comes of it.
type tape struct{ lines []string }

func (t *tape) tap(e boundary.Event) {
	if e.Kind != boundary.Advanced || len(e.Effects) > 0 {
		t.lines = append(t.lines, e.String())
	}
}

// shadows writes down what would have been, of the classes whose decisions were
// not all carried out, beside what was.
func (t *tape) shadows(classes []boundary.ClassState) {
	for i := range classes {
		if c := &classes[i]; c.Shadow != nil {
			t.lines = append(t.lines, fmt.Sprintf("%s: happened %s; would be %s", c.Name, answers(&c.Tally), answers(&c.Shadow.Tally)))
		}
	}
}

func answers(t *tally.Tally) string {
	text := fmt.Sprint(t.Offered, " offered")
	for why, n := range t.Answered {
		if n > 0 {
			text += fmt.Sprintf(", %d %v", n, reason.Reason(why))
		}
	}
	return text
}

// long is when everything a script began has ended.
const long = time.Hour

// runVirtual plays the script in the simulator.
func runVirtual(t testing.TB, s *script) []string {
	t.Helper()
	var tape tape
	names := workload.NewNames()
	scenario := sim.Scenario{
		For: long, Names: names, Check: true, Reserving: storeTakes,
		Resources: []sim.Resource{{Boundary: s.config, Tap: tape.tap, Upstream: sim.Upstream{NoticesCancel: s.notices}}},
	}
	for _, c := range s.calls {
		scenario.Resources[0].Calls = append(scenario.Resources[0].Calls, sim.Call{Timeout: c.timeout, StartDeadline: c.startDeadline})
	}
	for _, c := range s.changes {
		scenario.Changes = append(scenario.Changes, sim.Change{At: c.at, Boundary: c.config, Drain: c.drain, Operate: c.hand, Press: c.press})
	}
	// Patience is a stream's, so that each request is a stream of its own.
	for _, r := range s.requests {
		scenario.Streams = append(scenario.Streams, sim.Stream{
			Class: s.config.Classes[r.class].Name, Callers: sim.Callers{Patience: r.leaves},
			Source: workload.Slice([]workload.Arrival{{
				At: r.at, Service: r.takes, Deadline: r.deadline, Cost: r.cost, Bytes: r.bytes, Session: r.session,
				Importance: int32(r.importance), Tenant: names.Tenants.ID(r.tenant),
			}}),
		})
	}
	result, err := sim.Run(scenario, nil)
	if err != nil {
		t.Fatal(err)
	}
	tape.shadows(result.Resources[0].Classes)
	return slices.Clip(tape.lines)
}
