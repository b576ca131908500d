package assemble_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/policy/plan"
)

const planned = `version: 1
upstreams:
  store: { url: "http://127.0.0.1:9001", slots: 16, service: { mix: [[0.99, 2.9ms], [0.01, 1.5s]] }, stops_at_deadline: on, stops_after: 5s, honours_keys: on }
classes:
  score:
    match: { path: /score, method: [GET, POST] }
    deadline: 300ms
    abandoned: { hold_at_most: 7s, cancel: on }
    call: { timeout: 25ms, reserve: 2ms, retries: 2, retry_budget: { tokens: 50, percent: 20% }, backoff: { jitter: decorrelated },
            hedge: { after: p95 }, breaker: { slow: 50%, slow_after: 20ms } }
    expect: { rate: 450, callers_attempts: [3], callers_timeouts: [2s] }
`

func TestEveryKeyOfACallReachesThePlan(t *testing.T) {
	in := assemble.Plan(parse(t, planned))
	ms := time.Millisecond
	u := in.Upstreams[0]
	if !u.StopsAtDeadline || u.StopsAfter != 5*time.Second || !u.HonoursKeys {
		t.Errorf("upstream %+v", u)
	}
	c := in.Classes[0]
	want := plan.Call{
		Timeout: 25 * ms, Reserve: 2 * ms, PassDeadline: true, Retries: 2, RetryBudget: 0.2,
		Backoff: plan.Backoff{Base: 5 * ms, Max: time.Second, Decorrelated: true},
		Hedge:   plan.Hedge{Percentile: 95, Budget: 0.1},
		Breaker: plan.Breaker{Window: 10 * time.Second, SlowAfter: 20 * ms, MinCalls: 20, ProbeTimeout: 25 * ms, Shares: true},
	}
	if !reflect.DeepEqual(c.Call, want) {
		t.Errorf("\n got %+v\nwant %+v", c.Call, want)
	}
	if c.Order != "adaptive" || !c.Posts || !c.Cancel || c.HoldAtMost != 7*time.Second || !reflect.DeepEqual(c.Expect.CallersTimeouts, []time.Duration{2 * time.Second}) {
		t.Errorf("%+v", c)
	}
}
