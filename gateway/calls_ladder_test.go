package gateway_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
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

// What is kept back of the deadline, retries and a ladder together: no attempt is told of
// more time than there is until then, each of less than the one before, none is sent
// after, and whoever asked has its stand-in, with the reason of what came first, while
// time is left.
func TestReserveRetriesAndLadderTogether(t *testing.T) {
	m := newMoody()
	defer close(m.freed)
	m.mood.Store("hangs")
	var mu sync.Mutex
	var told []int
	h := start(t, fmt.Sprintf("  all: { match: { path: \"/*\" }, slots: 2, deadline: 10s, call: { timeout: 700ms, reserve: 900ms, retries: 5, retry_budget: off, backoff: off }, ladder: [ { static: { file: %q } } ] }\n", static(t)),
		func(w http.ResponseWriter, r *http.Request) {
			ms, err := strconv.Atoi(r.Header.Get("X-Envoy-Expected-Rq-Timeout-Ms"))
			mu.Lock()
			if told = append(told, ms); err != nil {
				t.Errorf("told %q", r.Header.Get("X-Envoy-Expected-Rq-Timeout-Ms"))
			}
			mu.Unlock()
			m.ServeHTTP(w, r)
		})
	a := h.get("/", "X-Envoy-Expected-Rq-Timeout-Ms", "2000")
	sent := m.seen.Load()
	if a.StatusCode != 200 || a.Header.Get("Spillway-Rung") != "static" || a.Header.Get("Spillway-Reason") != "timeout" || a.Header.Get("X-Should-Retry") != "" {
		t.Errorf("%d, rung %q, reason %q, x-should-retry %q", a.StatusCode, a.Header.Get("Spillway-Rung"), a.Header.Get("Spillway-Reason"), a.Header.Get("X-Should-Retry"))
	}
	h.stop()
	mu.Lock()
	defer mu.Unlock()
	// 1,100 ms are there to call in: a try of 700, and one of what is left.
	if len(told) < 1 || len(told) > 2 || told[0] > 700 || len(told) == 2 && told[1] > 400 {
		t.Errorf("attempts were told of %v ms", told)
	}
	if m.seen.Load() != sent {
		t.Errorf("%d were sent after the answer", m.seen.Load()-sent)
	}
}
