package assemble_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/policy/call"
)

const calling = `version: 1
seed: 7
upstreams: { app: { url: "http://127.0.0.1:9001" } }
classes:
  full:
    match: { path: /full }
    call: { timeout: 25ms, reserve: 2ms, retries: 2, retry_budget: { percent: 5%, floor: 1 },
            backoff: { base: 5ms, max: 20ms, jitter: equal }, hedge: { after: p95, slow_share: 35%, budget: { percent: 10%, tokens: 50 } },
            breaker: { failures: 50%, slow: 80%, slow_after: 20ms, consecutive: 5, window: 9s, min_calls: 21, open_for: 2s,
                       open_max: 11s, probes: 4, probe_timeout: 30ms }, throttle: { k: 1.5, window: 40s } }
  off: { match: { path: /off }, call: { retries: 1, retry_budget: off, backoff: off, hedge: { after: 10ms, budget: off } } }
  plain: {}
`

func TestEveryKeyOfACallReachesItsPolicy(t *testing.T) {
	r := assemble.Resources(parse(t, calling))[0]
	ms := time.Millisecond
	want := call.Policy{
		Timeout: 25 * ms, Reserve: 2 * ms, Retries: 2,
		Budget:  call.Budget{Percent: 5, Floor: 1},
		Backoff: call.Backoff{Base: 5 * ms, Max: 20 * ms, Jitter: call.Equal},
		Hedge:   call.Hedge{Percentile: 95, Budget: call.Budget{Percent: 10, Tokens: 50}, SlowShare: 35},
		Breaker: call.Breaker{Failures: 50, Slow: 80, SlowAfter: 20 * ms, Consecutive: 5, Window: 9 * time.Second, MinCalls: 21,
			OpenFor: 2 * time.Second, OpenMax: 11 * time.Second, Probes: 4, ProbeTimeout: 30 * ms},
		Throttle: call.Throttle{K: 1.5, Window: 40 * time.Second},
		Seed:     r.Calls[0].Seed,
	}
	if got := r.Calls[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	want = call.Policy{
		Retries: 1, Budget: call.Budget{Off: true},
		Hedge: call.Hedge{After: 10 * ms, Budget: call.Budget{Off: true}},
		Seed:  r.Calls[1].Seed,
	}
	if got := r.Calls[1]; !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func TestAClassThatSaysNothingOfCallsMakesOneAttempt(t *testing.T) {
	r := assemble.Resources(parse(t, calling))[0]
	got := r.Calls[2]
	if got.Retries != 0 || got.Hedge.After != 0 || got.Hedge.Percentile != 0 || got.Timeout != 0 ||
		got.Breaker != (call.Breaker{}) || got.Throttle != (call.Throttle{}) {
		t.Errorf("%+v", got)
	}
	if want := (call.Budget{Percent: 10, Floor: 3}); got.Budget != want {
		t.Errorf("budget %+v, want %+v", got.Budget, want)
	}
}

// The defaults of the file are those of the policy, and what the file takes the
// policy takes too.
func TestWhatIsNotSaidIsAsThePolicyHasIt(t *testing.T) {
	const said = `version: 1
upstreams: { app: { url: "http://127.0.0.1:9001" } }
classes:
  all: { call: { retries: 100, hedge: { after: p99 }, breaker: { failures: 1% }, throttle: { k: 100 } } }
`
	p := assemble.Resources(parse(t, said))[0].Calls[0]
	want := call.Policy{
		Retries: 100, Backoff: call.Backoff{Base: 5 * time.Millisecond, Max: time.Second}, Hedge: call.Hedge{Percentile: 99},
		Breaker: call.Breaker{Failures: 1}, Throttle: call.Throttle{K: 100}, Seed: p.Seed,
	}.WithDefaults()
	if got := p.WithDefaults(); !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	const most = `version: 1
upstreams: { app: { url: "http://127.0.0.1:9001" } }
classes:
  all: { deadline: 24h, max_deadline: 24h, call: { timeout: 24h, reserve: 1m, retries: 100, retry_budget: { percent: 100%, floor: 1000 },
         backoff: { base: 1h, max: 1h }, hedge: { after: 1h, budget: { percent: 100%, tokens: 1000000 } },
         breaker: { failures: 100%, slow: 100%, slow_after: 1h, consecutive: 10000, window: 1h, min_calls: 1000000,
                    open_for: 1h, open_max: 1h, probes: 16, probe_timeout: 1h }, throttle: { k: 1.01, window: 10m } } }
`
	if err := assemble.Resources(parse(t, most))[0].Calls[0].Validate(); err != nil {
		t.Error(err)
	}
}

// Calls of two classes, and of one class to two upstreams, draw different chance:
// what paused together would come back together.
func TestEachPairOfClassAndUpstreamHasItsOwnChance(t *testing.T) {
	cfg := parse(t, calling).WithDefaults()
	seeds := map[uint64]bool{}
	for _, c := range cfg.Classes {
		for _, u := range []string{"app", "cheap"} {
			seeds[assemble.Call(cfg, c, u).Seed] = true
		}
	}
	if len(seeds) != 6 {
		t.Errorf("%d seeds for 3 classes on 2 upstreams", len(seeds))
	}
	again := parse(t, calling).WithDefaults()
	if a, b := assemble.Call(cfg, cfg.Classes[0], "app"), assemble.Call(again, again.Classes[0], "app"); a.Seed != b.Seed {
		t.Error("the same file gives other chance")
	}
}
