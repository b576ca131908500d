package sim_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// scoring calls a store of 16 slots, as a class of 64 slots would.
func scoring(t *testing.T, up sim.Upstream, how sim.Call, perSecond float64) *sim.Result {
	t.Helper()
	class := checkout()
	class.Name, class.Pool.Slots, class.Pool.Bound = "score", 64, 500
	names := workload.NewNames()
	return play(t, sim.Scenario{
		Seed: 1, For: 30 * time.Second, Names: names, Check: true,
		Resources: []sim.Resource{{Boundary: strict(class), Upstream: up, Calls: []sim.Call{how}}},
		Streams:   []sim.Stream{{Source: poisson(names, "score", perSecond, 0)}},
	})
}

// freezing is a store whose lookups take 2.9 ms, and one in a hundred 1.5 s.
func freezing() sim.Upstream {
	return sim.Upstream{Slots: 16, Service: service("mix:0.99*2.9ms,0.01*1.5s")}
}

// A policy of one attempt changes not a byte of what a class reports whose upstream
// stops at its deadline.
func TestOneAttemptIsTheCallItself(t *testing.T) {
	up := sim.Upstream{Slots: 64, Service: service("exp:100ms"), NoticesCancel: true}
	for _, perSecond := range []float64{300, 800} {
		plain := must(json.Marshal(scoring(t, up, sim.Call{}, perSecond).Report))
		policy := must(json.Marshal(scoring(t, up, sim.Call{Policy: new(call.Policy)}, perSecond).Report))
		if !bytes.Equal(plain, policy) {
			t.Errorf("at %g/s:\nplain  %s\npolicy %s", perSecond, plain, policy)
		}
	}
}

// Two more tries of 25 ms each answer whoever met a frozen lookup, for one or two
// calls more in a hundred.
func TestRetriesAnswerWhoMetAFrozenLookup(t *testing.T) {
	p := call.Policy{Timeout: 25 * time.Millisecond, Retries: 2, Backoff: call.Backoff{Jitter: call.NoJitter}}
	r := scoring(t, freezing(), sim.Call{Policy: &p}, 300).Report.Classes["score"]
	if share := float64(r.Reasons["served"]) / float64(r.Offered); share < 0.9995 {
		t.Errorf("%.3f %% are answered: %v", 100*share, r.Reasons)
	}
	if c := float64(r.CallsPerRequest); c < 1.008 || c > 1.025 {
		t.Errorf("%g calls a request", c)
	}
	if p99 := float64(r.P99Ms); p99 > 60 {
		t.Errorf("p99 %g ms", p99)
	}
}

// A limit that travels with the call is when a store that reads it stops: the
// frozen lookups hold it for 25 ms instead of a second and a half.
func TestALimitThatTravelsFreesTheStore(t *testing.T) {
	p := call.Policy{Timeout: 25 * time.Millisecond}
	deaf, told := freezing(), freezing()
	told.KeepsDeadline = true
	how := sim.Call{Policy: &p, PassDeadline: true}
	before, after := scoring(t, deaf, how, 300).Resources[0], scoring(t, told, how, 300).Resources[0]
	if after.Busy > before.Busy/4 || after.Stopped == 0 || before.Stopped != 0 {
		t.Errorf("busy %v, told %v; stopped %d, told %d", before.Busy, after.Busy, before.Stopped, after.Stopped)
	}
}

// A hedge goes to another copy: with one of two frozen for good everybody is
// answered, and those who were sent there a little later.
func TestAHedgeGoesToAnotherCopy(t *testing.T) {
	frozen := must(workload.ParseConditions("outage@0s+10m"))
	up := sim.Upstream{
		Slots: 32, Service: service("3ms"), Copies: 2, CopyConditions: []workload.Conditions{frozen},
		NoticesCancel: true, Spread: spread.Config{Keep: true},
	}
	answered := func(p call.Policy) float64 {
		r := scoring(t, up, sim.Call{Policy: &p}, 100).Report.Classes["score"]
		return float64(r.Reasons["served"]) / float64(r.Offered)
	}
	p := call.Policy{Timeout: 100 * time.Millisecond}
	if alone := answered(p); alone > 0.99 {
		t.Errorf("without a hedge %.1f %% are answered", 100*alone)
	}
	p.Hedge = call.Hedge{After: 10 * time.Millisecond, Budget: call.Budget{Off: true}}
	if hedged := answered(p); hedged < 0.999 {
		t.Errorf("with a hedge %.1f %% are answered", 100*hedged)
	}
}
