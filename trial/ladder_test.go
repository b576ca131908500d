package trial_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
)

const laddered = `version: 1
upstreams:
  app:   { url: "http://127.0.0.1:1", slots: 4, service: 100ms }
  cheap: { url: "http://127.0.0.1:2", slots: 2, service: 20ms }
classes:
  lists:
    upstream: app
    slots: 4
    budget: { latency: 150ms, service: 100ms }
    deadline: 500ms
    shed: off
    ladder:
      - cache: { ttl: 1s, stale_for: 9s }
      - upstream: cheap
      - static: { file: x.json }
`

// What a file says of its ladder is what is simulated: earlier answers to the same
// question, then the other upstream for as many as it can do, then the fixed answer.
func TestARunIsAnsweredFromTheFilesLadder(t *testing.T) {
	cfg := configuration(t, strings.Replace(laddered, "      - static: { file: x.json }\n", "", 1))
	keys, err := workload.ParseKeys("alike:2000")
	if err != nil {
		t.Fatal(err)
	}
	result, err := trial.Trial{
		Config: cfg, For: 30 * time.Second,
		Loads: []trial.Load{{Spec: workload.Spec{Rate: at(t, 240), Keys: keys}}},
	}.Run(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := result.Report.Classes["lists"]
	served, cached, cheap := float64(r.Answered["primary"]), float64(r.Answered["cache"]), float64(r.Answered["cheap"])
	// 40/s are served; in ten seconds 400 of 2000 questions have an answer. The other is
	// asked for 3.5 at once and does two, for which nobody waits: 69/s (Erlang's loss formula).
	if served < 1100 || served > 1210 || cached < 0.12*6000 || cached > 0.2*6000 || cheap < 66*30 || cheap > 72*30 {
		t.Errorf("answered %v of %d", r.Answered, r.Offered)
	}
	if r.Refused.Sum() == 0 || len(result.Report.Classes) != 1 || strings.Join(result.Report.Rungs, " ") != "primary cache cheap" {
		t.Errorf("refused %v, classes %v, rungs %v", r.Refused, result.Report.ClassOrder, result.Report.Rungs)
	}
	if busiest := result.Resources[1].LineMost; busiest > 0 {
		t.Errorf("%d stood in the line of the cheap one, which is to be asked for no more than it can do", busiest)
	}
}

// A recording names no keys: how often an earlier answer is there is then said.
func TestTheShareOfHitsIsSaidWhereNoKeyIsKnown(t *testing.T) {
	cfg := configuration(t, strings.Replace(laddered, "      - static: { file: x.json }\n", "", 1))
	for share, want := range map[float64]float64{0: 0, 0.5: 0.5, 1: 1} {
		result, err := trial.Trial{
			Config: cfg, For: 20 * time.Second, HitShare: share,
			Loads: []trial.Load{{Spec: workload.Spec{Rate: at(t, 240)}}},
		}.Run(nil)
		if err != nil {
			t.Fatal(err)
		}
		r := result.Report
		if got := float64(r.Answered["cache"]) / float64(r.Offered-r.Answered["primary"]); got < want-0.03 || got > want+0.03 {
			t.Errorf("of those not served %.2f hit, %v was said", got, want)
		}
	}
}

// The order of the pools in a file, and what a rung may take where it does not say so.
func TestARungTakesWhatTheClassesOfAnUpstreamLeave(t *testing.T) {
	cfg := configuration(t, `version: 1
upstreams: { app: { url: "http://127.0.0.1:1", slots: 4, service: 1ms }, cheap: { url: "http://127.0.0.1:2", slots: 10, service: 3ms } }
classes:
  a: { match: { path: /a }, upstream: app, slots: 2, deadline: 1s, ladder: [ { upstream: cheap } ] }
  b: { match: { path: /b }, upstream: app, slots: 2, deadline: 2s, ladder: [ { upstream: cheap, slots: 1, wait: 5ms, service: 7ms, name: less } ] }
  c: { match: { path: /c }, upstream: cheap, slots: 3 }
`)
	s, err := trial.Trial{Config: cfg, Loads: []trial.Load{{Class: "a", Spec: workload.Spec{Rate: at(t, 1)}}}, For: time.Second}.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	classes := s.Resources[1].Boundary.Classes
	for i, want := range []struct {
		name          string
		slots, borrow int
		wait          time.Duration
	}{{"c", 3, 0, 30 * time.Second}, {"a/cheap", 6, 4, 0}, {"b/cheap", 1, 0, 5 * time.Millisecond}} {
		c := classes[i]
		if c.Name != want.name || c.Pool.Slots != want.slots || c.Pool.Borrow != want.borrow || c.Pool.Latency-c.Pool.Service != want.wait {
			t.Errorf("pool %d: %s with %d slots and %d borrowed, waits %v; want %+v", i, c.Name, c.Pool.Slots, c.Pool.Borrow, c.Pool.Latency-c.Pool.Service, want)
		}
	}
	if got := s.Resources[0].Ladders[1].Order.Name(0); got != "less" {
		t.Errorf("the rung of b is %s", got)
	}
}
