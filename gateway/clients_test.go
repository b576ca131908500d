package gateway_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/policy/reason"
)

// behind is a gateway behind a proxy that is trusted, so that a test can come
// from any address.
const behind = "trust: { proxies: { from: [127.0.0.0/8] } }\n"

func TestAClientThatAsksTooMuchIsToldWhen(t *testing.T) {
	h := start(t, behind+"clients: { rate: { burst: 2, per_second: 0.01 } }\n  all: {}\n", toldOf)
	for range 2 {
		want(t, h.get("/", "X-Forwarded-For", "203.0.113.7"), 200, "served", "primary")
	}
	got := h.get("/", "X-Forwarded-For", "203.0.113.7")
	want(t, got, 429, "rate_limited", "refusal")
	if ms, err := strconv.Atoi(got.Header.Get("Retry-After-Ms")); err != nil || ms != 30_000 || got.Header.Get("Retry-After") != "30" {
		t.Errorf("told %q, %q; the next is free in 100 s, of which 30 are told", got.Header.Get("Retry-After-Ms"), got.Header.Get("Retry-After"))
	}
	want(t, h.get("/", "X-Forwarded-For", "203.0.113.8"), 200, "served", "primary")
	if s := h.state("all").Tally; s.Answered[reason.RateLimited] != 1 || s.Offered != 4 {
		t.Errorf("%+v", s)
	}
}

// An address that rotates inside its /64 stays one client.
func TestIPv6RotatingInsideItsNetworkIsOneClient(t *testing.T) {
	h := start(t, behind+"clients: { rate: { burst: 5, per_second: 0.01 } }\n  all: {}\n", toldOf)
	served := func(from string) bool { return h.get("/", "X-Forwarded-For", from).StatusCode == 200 }
	n := 0
	for i := range 50 {
		if served(fmt.Sprintf("2001:db8:0:1:%x:%x:%x:%x", i*7, i*i, 65535-i, i)) {
			n++
		}
	}
	if n != 5 {
		t.Errorf("%d of 50 addresses of one /64 were served, its burst is 5", n)
	}
	if !served("2001:db8:0:2::1") {
		t.Error("another /64 is another client")
	}
}

func TestWhoIsNotLimited(t *testing.T) {
	path, key := apiKeys(t, "", "")
	h := start(t, behind[:len(behind)-2]+", keys: { file: "+path+" } }\n"+
		"clients: { by: identity, rate: { burst: 1, per_second: 0.01 }, exempt: [10.0.0.0/8] }\n"+
		"  free: { match: { path: /free }, clients: { exempt: on } }\n  own: { match: { path: /own }, clients: { rate: { burst: 3, per_second: 0.01 } } }\n  all: {}\n", toldOf)
	served := func(path, from string, header ...string) (n int) {
		for range 5 {
			if h.get(path, append(header, "X-Forwarded-For", from)...).StatusCode == 200 {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		name, path, from string
		header           []string
		served           int
	}{
		{"an address", "/", "203.0.113.7", nil, 1},
		{"a network that is exempt", "/", "10.1.2.3", nil, 5},
		{"a class that is exempt", "/free", "203.0.113.7", nil, 5},
		{"a class with a rule of its own", "/own", "203.0.113.7", nil, 3},
		{"a name, from whatever address", "/", "203.0.113.7", []string{"X-Api-Key", key}, 1},
		{"the same name from another", "/", "203.0.113.9", []string{"X-Api-Key", key}, 0},
		{"a forged address names no other", "/", "127.0.0.1, 203.0.113.7", nil, 0},
	} {
		if n := served(c.path, c.from, c.header...); n != c.served {
			t.Errorf("%s: %d of 5 served, want %d", c.name, n, c.served)
		}
	}
}

func TestAClientHasSoManyUnderWayAndNoMore(t *testing.T) {
	hold := make(chan struct{})
	h := start(t, behind+"clients: { concurrent: 2 }\n  all: {}\n", func(http.ResponseWriter, *http.Request) { <-hold })
	answers := make(chan got, 3)
	for range 2 {
		go func() {
			g, err := h.try("GET", "/", nil, "X-Forwarded-For", "203.0.113.7")
			if err != nil {
				t.Error(err)
			}
			answers <- g
		}()
	}
	until(t, "both run", func() bool { return h.state("all").Tally.Running == 2 })
	want(t, h.get("/", "X-Forwarded-For", "203.0.113.7"), 429, "rate_limited", "refusal")
	close(hold)
	for range 2 {
		want(t, <-answers, 200, "served", "primary")
	}
	want(t, h.get("/", "X-Forwarded-For", "203.0.113.7"), 200, "served", "primary")
	if !strings.Contains(h.adminGet("/metrics").body, `spillway_clients_forgotten_early_total{resource="app"} 0`) {
		t.Error("no metric of clients forgotten early")
	}
}

// H4: whoever can cause reloads has no other limit than everybody: a client that has
// used up what it may is refused after a hundred of them as before, whether they change
// nothing, another class or its own rule; a longer burst counts what it has had.
func TestReloadsGiveNoClientAnything(t *testing.T) {
	app := serviceAt(t, says("app"))
	classes := func(burst, slots int) string {
		return fmt.Sprintf("  own: { match: { path: /own }, upstream: app, clients: { rate: { burst: %d, per_second: 0.01 } } }\n  rest: { upstream: app, slots: %d }\n", burst, slots)
	}
	r := startFile(t, app, app, classes(4, 1))
	may := func() (n int) {
		for r.get("/own").StatusCode == 200 {
			n++
		}
		return n
	}
	if n := may(); n != 4 {
		t.Fatalf("%d were served, the burst is 4", n)
	}
	for i := range 100 {
		r.reload(fileOf(app, app, classes(4-i/10%2*2, 1+i%3)))
		if n := may(); n != 0 {
			t.Fatalf("after reload %d another %d were served", i, n)
		}
	}
	r.reload(fileOf(app, app, classes(6, 1)))
	if n := may(); n != 2 {
		t.Errorf("with a burst of 6, of which 4 are used, %d were served", n)
	}
}
