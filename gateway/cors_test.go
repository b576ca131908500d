package gateway_test

import (
	"net/http"
	"strings"
	"testing"
)

// A page is told what it needs to behave: scripts may read our headers of the
// service's answers, and our own answers altogether where their origin is allowed.
func TestPagesOfOtherOrigins(t *testing.T) {
	service := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/exposes" {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("Access-Control-Expose-Headers", "X-Total")
		}
	}
	const shop, other = "https://shop.example", "https://other.example"
	const ours = "Spillway-Rung, Spillway-Reason, Retry-After, X-Should-Retry, X-Request-Id"
	h := start(t, "cors: { origins: [\"https://shop.example\"], credentials: on }\n  all: { match: { path: [/a, /exposes] }, slots: 2 }", service)
	for _, tt := range []struct {
		name, path, origin string
		status             int
		allow, expose      string
	}{
		{"no page asks", "/a", "", 200, "", ""},
		{"the service allows nobody", "/a", shop, 200, "", ours},
		{"what the service exposes stays", "/exposes", other, 200, "*", "X-Total, " + ours},
		{"our own answer, to a page that may read it", "/nowhere", shop, 404, shop, ours},
		{"our own answer, to another", "/nowhere", other, 404, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var header []string
			if tt.origin != "" {
				header = []string{"Origin", tt.origin}
			}
			g := h.get(tt.path, header...)
			allow, expose := strings.Join(g.Header["Access-Control-Allow-Origin"], ", "), strings.Join(g.Header["Access-Control-Expose-Headers"], ", ")
			if g.StatusCode != tt.status || allow != tt.allow || expose != tt.expose {
				t.Errorf("%d, allows %q, exposes %q; want %d, %q, %q", g.StatusCode, allow, expose, tt.status, tt.allow, tt.expose)
			}
			if varies := strings.Contains(strings.Join(g.Header["Vary"], ","), "Origin"); varies != (tt.status == 404) {
				t.Errorf("Vary: %q", g.Header["Vary"])
			}
		})
	}
	g := h.get("/nowhere", "Origin", shop)
	if g.Header.Get("Access-Control-Allow-Credentials") != "true" {
		t.Error("credentials are not allowed")
	}
}

func TestNothingIsExposedWhereItIsOff(t *testing.T) {
	h := start(t, "cors: { expose: off }\n  all: { slots: 2 }", func(http.ResponseWriter, *http.Request) {})
	if g := h.get("/", "Origin", "https://shop.example"); g.Header["Access-Control-Expose-Headers"] != nil {
		t.Errorf("%q", g.Header["Access-Control-Expose-Headers"])
	}
}

// I4, D5: preflights that the gateway answers, and paths whose class has slots of its own,
// are answered while all else is refused.
func TestPreflightsAndHealthAreExempt(t *testing.T) {
	b := newBlocker()
	h := start(t, `cors: { origins: ["https://shop.example"], preflights: answer, methods: [GET, POST], max_age: 1h }
  health: { match: { path: /healthz }, slots: 1 }
  all: { slots: 1, memory: { limit: 1KiB, per_request: 1KiB } }`,
		func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/healthz" {
				b.ServeHTTP(w, r)
			}
		})
	first := make(chan got, 1)
	go func() { first <- h.get("/") }()
	<-b.began
	want(t, h.get("/"), 503, "queue_bytes", "refusal")
	for range 20 {
		want(t, h.get("/healthz"), 200, "served", "primary")
	}
	ask := func(header ...string) got {
		return h.send("OPTIONS", "/cart", nil, append(header, "Access-Control-Request-Method", "PUT", "Access-Control-Request-Headers", "x-tenant")...)
	}
	offered := h.state("all").Tally.Offered
	g := ask("Origin", "https://shop.example")
	for name, value := range map[string]string{
		"Access-Control-Allow-Origin": "https://shop.example", "Access-Control-Allow-Methods": "GET, POST",
		"Access-Control-Allow-Headers": "x-tenant", "Access-Control-Max-Age": "3600",
	} {
		if g.StatusCode != 204 || g.Header.Get(name) != value {
			t.Errorf("%d, %s: %q, want %q", g.StatusCode, name, g.Header.Get(name), value)
		}
	}
	if g := ask("Origin", "https://other.example"); g.StatusCode != 204 || g.Header["Access-Control-Allow-Origin"] != nil {
		t.Errorf("another origin: %d %v", g.StatusCode, g.Header)
	}
	if now := h.state("all").Tally.Offered; now != offered {
		t.Errorf("%d preflights were offered", now-offered)
	}
	if g := h.send("OPTIONS", "/cart", nil); g.StatusCode != 503 {
		t.Errorf("OPTIONS of no page: %d; it is a request like any other", g.StatusCode)
	}
	b.let <- struct{}{}
	want(t, <-first, 200, "served", "primary")
}

func TestPreflightsAreForwardedUnlessToldOtherwise(t *testing.T) {
	h := start(t, "  all: { slots: 1 }", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(299) })
	if g := h.send("OPTIONS", "/", nil, "Origin", "https://a.example", "Access-Control-Request-Method", "PUT"); g.StatusCode != 299 {
		t.Errorf("%d", g.StatusCode)
	}
}
