package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/policy/reason"
)

// Whatever a call policy ends a call for, the class's ladder is stepped down, the
// account has the reason, the slot is free, and nothing on the stand-in tells the
// caller not to come back, for it has an answer.
func TestCallsThatHaveNoAnswerStepDown(t *testing.T) {
	for _, c := range []struct {
		name, call, mood, method string
		before                   int // requests first
		why                      reason.Reason
	}{
		{"cut off in every attempt", "timeout: 30ms, retries: 1, retry_budget: off, backoff: off", "hangs", "GET", 0, reason.Timeout},
		{"nobody knows whether it ran", "timeout: 30ms, retries: 1, retry_budget: off, backoff: off", "hangs", "POST", 0, reason.Unknown},
		{"dropped in every attempt", "retries: 1, retry_budget: off, backoff: off", "drops", "GET", 0, reason.Failed},
		{"answered with an error", "retries: 1, retry_budget: off, backoff: off", "fails", "GET", 0, reason.Failed},
		{"not even tried", "breaker: { consecutive: 1, open_for: 1m, open_max: 1m }", "drops", "GET", 1, reason.BreakerOpen},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMoody()
			defer close(m.freed)
			m.mood.Store(c.mood)
			h := start(t, fmt.Sprintf("  all: { match: { path: \"/*\" }, slots: 2, deadline: 10s, call: { %s }, ladder: [ { static: { file: %q } } ] }\n", c.call, static(t)), m.ServeHTTP)
			for range c.before {
				h.get("/")
			}
			a := h.send(c.method, "/", strings.NewReader(""))
			if a.StatusCode != http.StatusOK || a.body != `{"list":[]}` {
				t.Errorf("%d %q", a.StatusCode, a.body)
			}
			if rung, why := a.Header.Get("Spillway-Rung"), a.Header.Get("Spillway-Reason"); rung != "static" || why != c.why.String() {
				t.Errorf("rung %q, reason %q; want static, %v", rung, why, c.why)
			}
			if v := a.Header.Get("X-Should-Retry"); v != "" {
				t.Errorf("a stand-in says x-should-retry: %s", v)
			}
			s := h.state("all")
			if s.Used != 0 || s.Tally.Answered[c.why] != 1 {
				t.Errorf("%d slots used, %d on the account for %v", s.Used, s.Tally.Answered[c.why], c.why)
			}
		})
	}
}

// Without a ladder whoever was tried for more than once is told not to multiply that.
func TestWithoutALadderARefusalSaysThatItWasTried(t *testing.T) {
	m := newMoody()
	defer close(m.freed)
	m.mood.Store("drops")
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 2, call: { retries: 1, retry_budget: off, backoff: off } }\n", m.ServeHTTP)
	if a := h.get("/"); a.StatusCode != http.StatusBadGateway || a.Header.Get("X-Should-Retry") != "false" || m.seen.Load() != 2 {
		t.Errorf("%d, x-should-retry %q after %d calls", a.StatusCode, a.Header.Get("X-Should-Retry"), m.seen.Load())
	}
}

// What a ladder keeps back of the deadline a call policy does not keep back again.
func TestTheReserveOfALadderIsKeptBackOnce(t *testing.T) {
	m := newMoody()
	h := start(t, fmt.Sprintf("  all: { match: { path: \"/*\" }, slots: 2, deadline: 8s, call: { reserve: 3s, retries: 1 }, ladder: [ { static: { file: %q } } ] }\n", static(t)), m.ServeHTTP)
	if a := h.get("/"); a.StatusCode != http.StatusOK {
		t.Fatalf("%d", a.StatusCode)
	}
	if left := m.left.Load().(string); len(left) != 4 || left[0] != '4' {
		t.Errorf("of 8 s, 3 s of them kept back, the service was told that %s ms are left", left)
	}
}
