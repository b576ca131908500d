package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/policy/reason"
)

// A call that failed is tried again where that is right, as often as the policy says,
// and the caller sees the answer that came of it. What may have run and is not to run
// twice is not.
func TestFailedCallsAreTriedAgain(t *testing.T) {
	const class = "  all: { match: { path: \"/*\" }, slots: 4, call: { retries: 2, retry_budget: off, backoff: off } }\n"
	for _, c := range []struct {
		name, method, key string
		first             []int // statuses, then 200
		status, calls     int
	}{
		{"a GET that failed", "GET", "", []int{500}, 200, 2},
		{"a GET whose service was gone", "GET", "", []int{502, 504}, 200, 3},
		{"as often as it may", "GET", "", []int{503, 503, 503}, 503, 3},
		{"a POST that did not run", "POST", "", []int{429}, 200, 2},
		{"a POST to a service that was busy, and did not say that it did not run", "POST", "", []int{503}, 503, 1},
		{"a POST that may have run", "POST", "", []int{500}, 500, 1},
		{"a POST with a key that nobody is known to honour", "POST", "k1", []int{502}, 502, 1},
		{"what will be answered no differently", "GET", "", []int{404}, 404, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var calls atomic.Int64
			h := start(t, class, func(w http.ResponseWriter, r *http.Request) {
				n := int(calls.Add(1))
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("X-Attempt", r.Header.Get("X-Envoy-Attempt-Count"))
				if n <= len(c.first) {
					w.WriteHeader(c.first[n-1])
				}
				fmt.Fprintf(w, "%s %d", body, n)
			})
			var body io.Reader
			want := ""
			if c.method == "POST" {
				body, want = strings.NewReader("what is sent"), "what is sent"
			}
			a := h.send(c.method, "/", body, "Idempotency-Key", c.key)
			if a.StatusCode != c.status || int(calls.Load()) != c.calls {
				t.Errorf("%d after %d calls; want %d after %d", a.StatusCode, calls.Load(), c.status, c.calls)
			}
			if got := a.Header.Get("X-Attempt"); got != strconv.Itoa(c.calls) {
				t.Errorf("the service was told that it was attempt %s", got)
			}
			if want := fmt.Sprintf("%s %d", want, c.calls); a.body != want {
				t.Errorf("body %q, want %q", a.body, want)
			}
		})
	}
}

// The total deadline bounds everything, pauses included: upstream always refuses, a
// hundred retries are allowed, and nothing is sent after the answer.
func TestRetriesEndAtTheDeadline(t *testing.T) {
	var calls atomic.Int64
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 4, deadline: 200ms, call: { retries: 100, retry_budget: off, backoff: { base: 10ms, max: 10ms, jitter: none } } }\n",
		func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
		})
	a := h.get("/")
	sent := calls.Load()
	if a.StatusCode != http.StatusServiceUnavailable && a.StatusCode != http.StatusGatewayTimeout || sent < 2 || sent > 21 {
		t.Errorf("%d after %d calls", a.StatusCode, sent)
	}
	h.stop()
	if calls.Load() != sent {
		t.Errorf("%d calls after the answer", calls.Load()-sent)
	}
}

// A try that takes longer than it may is cut off and its slot of the class is free
// when the call is over, also where the service goes on for ever.
func TestATryThatTakesTooLongIsCutOff(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	var calls atomic.Int64
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 1, call: { timeout: 50ms, retries: 1, backoff: off } }\n",
		func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) == 1 {
				<-hang
				return
			}
			fmt.Fprint(w, "in time")
		})
	if a := h.get("/"); a.StatusCode != 200 || a.body != "in time" || calls.Load() != 2 {
		t.Errorf("%d %q after %d calls", a.StatusCode, a.body, calls.Load())
	}
	if s := h.state("all"); s.Used != 0 {
		t.Errorf("%d slots are held", s.Used)
	}
}

// two is a configuration of two copies and one class.
func two(t *testing.T, a, b, class string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("test.yaml", fmt.Appendf(nil, "version: 1\nupstreams: { app: { urls: [%q, %q] } }\nclasses:\n%s", a, b, class))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// A hedge and a retry go to another copy than the attempt before: with one of two that
// never answers, every caller is answered by the other.
func TestHedgesAndRetriesGoToAnotherCopy(t *testing.T) {
	for _, how := range []string{
		"hedge: { after: 20ms, budget: off }",
		"timeout: 50ms, retries: 1, retry_budget: off, backoff: off",
	} {
		t.Run(how, func(t *testing.T) {
			hang := make(chan struct{})
			var frozen atomic.Int64
			bad := serviceAt(t, func(w http.ResponseWriter, r *http.Request) {
				frozen.Add(1)
				select {
				case <-hang:
				case <-r.Context().Done():
				}
			})
			t.Cleanup(func() { close(hang) })
			good := serviceAt(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "well") })
			h := startConfig(t, two(t, bad, good, "  all: { match: { path: \"/*\" }, slots: 8, call: { "+how+" } }\n"))
			for i := 0; i < 20 && frozen.Load() < 3; i++ { // if more were slow, it would be the upstream as a whole
				if a := h.get("/"); a.StatusCode != 200 || a.body != "well" {
					t.Fatalf("%d %q", a.StatusCode, a.body)
				}
			}
			if frozen.Load() == 0 {
				t.Error("the frozen copy was never asked: nothing was shown")
			}
		})
	}
}

// A breaker that is open refuses without a call: 503 with its reason and when to come
// back, on the account as breaker_open, and it teaches nobody how long work takes.
func TestABreakerThatIsOpenRefuses(t *testing.T) {
	var calls atomic.Int64
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 4, call: { breaker: { consecutive: 3, open_for: 1m, open_max: 1m } } }\n",
		func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			w.WriteHeader(http.StatusInternalServerError)
		})
	for range 3 {
		h.get("/")
	}
	held := h.state("all").Holding
	for range 5 {
		a := h.get("/")
		if a.StatusCode != 503 || a.Header.Get("Spillway-Reason") != "breaker_open" {
			t.Fatalf("%d %q", a.StatusCode, a.Header.Get("Spillway-Reason"))
		}
		if s, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || s < 1 {
			t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
		}
	}
	if calls.Load() != 3 {
		t.Errorf("%d calls", calls.Load())
	}
	s := h.state("all")
	if n := s.Tally.Answered[reason.BreakerOpen]; n != 5 {
		t.Errorf("%d on the account", n)
	}
	if s.Holding != held {
		t.Errorf("the holding time went from %v to %v by calls that were not made", held, s.Holding)
	}
}

// A caller who hangs up ends the call: no attempt is made after it, none goes on.
func TestHangingUpEndsACallWithRetries(t *testing.T) {
	asked, gone := make(chan struct{}, 1), make(chan struct{}, 1)
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 1, call: { retries: 3, retry_budget: off } }\n",
		func(w http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
			<-r.Context().Done()
			gone <- struct{}{}
		})
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "GET", h.url+"/", nil)
	var all sync.WaitGroup
	all.Go(func() {
		if res, err := h.client.Do(req); err == nil {
			res.Body.Close()
			t.Error("answered")
		}
	})
	<-asked
	cancel()
	<-gone
	all.Wait()
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
	if n := h.state("all").Tally.Answered[reason.CallerGone]; n != 1 {
		t.Errorf("%d on the account as gone", n)
	}
}

// An answer that streams outlives deadline and limits once it has begun.
func TestAStreamOutlivesTheLimitOfItsTry(t *testing.T) {
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 2, deadline: 300ms, call: { timeout: 100ms, retries: 1, hedge: { after: 50ms } } }\n",
		func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(200)
			for i := range 5 {
				fmt.Fprintf(w, "%d", i)
				w.(http.Flusher).Flush()
				<-time.After(150 * time.Millisecond) // past both limits, and then the deadline
			}
		})
	if a := h.get("/"); a.StatusCode != 200 || a.body != "01234" {
		t.Errorf("%d %q", a.StatusCode, a.body)
	}
}

// A reload leaves what calls have taught, also where it changes how they are made.
func TestABreakerSurvivesAReload(t *testing.T) {
	text := "version: 1\nupstreams: { app: { url: %q } }\nclasses:\n  all: { match: { path: \"/*\" }, slots: 2, call: { retries: %d, breaker: { consecutive: 1, open_for: 1m, open_max: 1m } } }\n"
	at := serviceAt(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) })
	parse := func(retries int) *config.Config {
		cfg, err := config.Parse("test.yaml", fmt.Appendf(nil, text, at, retries))
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	retries := 0
	h := startConfig(t, parse(retries), func(o *gateway.Options) {
		o.Load = func() (*config.Config, error) { return parse(retries), nil }
	})
	h.get("/")
	retries = 1
	if _, err := h.Reload("test"); err != nil {
		t.Fatal(err)
	}
	if a := h.get("/"); a.Header.Get("Spillway-Reason") != "breaker_open" {
		t.Errorf("after the reload: %d %q", a.StatusCode, a.Header.Get("Spillway-Reason"))
	}
}
