package gateway_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// What calls came to is on the pages and in the metrics alike: a retry that was
// answered, then failures until the budget is spent and the breaker opens.
func TestCallsAreShown(t *testing.T) {
	var down atomic.Bool
	h := start(t, `  all: { match: { path: "/a/*" }, slots: 4, call: { retries: 1, retry_budget: { percent: 10%, floor: 2 }, backoff: off, hedge: { after: 1m }, breaker: { consecutive: 4, open_for: 1h, open_max: 1h } } }
  plain: { match: { path: "/*" }, slots: 4 }
`, func(w http.ResponseWriter, r *http.Request) {
		if down.Load() || r.Header.Get("X-Envoy-Attempt-Count") == "1" {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	if a := h.get("/a/1"); a.StatusCode != 200 {
		t.Fatalf("answered %d", a.StatusCode)
	}
	down.Store(true)
	for range 4 { // two attempts, one for want of budget, one that opens the breaker, none
		h.get("/a/1")
	}

	var shown struct {
		Pools []struct {
			Class string
			Calls map[string]any
		}
	}
	body := h.adminGet("/debug/pools", "Accept", "application/json").body
	if err := json.Unmarshal([]byte(body), &shown); err != nil {
		t.Fatal(err)
	}
	for _, p := range shown.Pools {
		if p.Class == "plain" {
			if p.Calls == nil || len(p.Calls) != 0 {
				t.Errorf("a class of single attempts shows %v, want {}", p.Calls)
			}
			continue
		}
		for field, want := range map[string]any{
			"calls": 5.0, "answered": 1.0, "attempts": 6.0, "retries": 2.0, "retries_over_budget": 1.0, "held_by_breaker": 1.0,
			"retry_budget_left": 0.0, "breaker": "open", "hedges": 0.0, "hedge_after_ms": 60_000.0,
		} {
			if p.Calls[field] != want {
				t.Errorf("%s is %v, want %v", field, p.Calls[field], want)
			}
		}
		if left := p.Calls["breaker_open_left_ms"].(float64); left <= 0 || left > float64(time.Hour/time.Millisecond) {
			t.Errorf("breaker_open_left_ms is %v", left)
		}
	}

	text := h.adminGet("/debug/pools").body
	for _, want := range []string{"calls     5 in 6 attempts, 1 answered", "retries 2, 1 over budget, 0 left; held 1 by breaker", "hedges 0 after 60000 ms", "breaker open, "} {
		if !strings.Contains(text, want) {
			t.Errorf("/debug/pools does not say %q:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "  calls  "); n != 1 {
		t.Errorf("%d classes show calls, want 1:\n%s", n, text)
	}

	lines := strings.Split(h.adminGet("/metrics").body, "\n")
	for _, want := range []string{
		`spillway_calls_total{class="all",resource="app"} 5`,
		`spillway_call_attempts_total{class="all",resource="app"} 6`,
		`spillway_call_more_attempts_total{class="all",kind="retry",resource="app"} 2`,
		`spillway_call_over_budget_total{class="all",kind="retry",resource="app"} 1`,
		`spillway_call_held_total{by="breaker",class="all",resource="app"} 1`,
		`spillway_call_breaker{class="all",resource="app",state="open"} 1`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("/metrics does not say %s", want)
		}
	}
}
