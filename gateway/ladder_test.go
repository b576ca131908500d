package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
)

// moody is a service that answers well until it is told otherwise.
type moody struct {
	mood  atomic.Value // what is wrong with it
	freed chan struct{}
	seen  atomic.Int64
	left  atomic.Value // what it was told of the deadline
}

func newMoody() *moody {
	m := &moody{freed: make(chan struct{})}
	m.mood.Store("")
	m.left.Store("")
	return m
}

func (m *moody) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := m.seen.Add(1)
	m.left.Store(r.Header.Get("X-Envoy-Expected-Rq-Timeout-Ms"))
	switch m.mood.Load() {
	case "hangs":
		select {
		case <-m.freed:
		case <-r.Context().Done():
		}
	case "fails":
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, "stack trace")
		return
	case "drops":
		panic(http.ErrAbortHandler)
	}
	if q := r.URL.Query().Get("control"); q != "" {
		w.Header().Set("Cache-Control", q)
	}
	w.Header().Set("Etag", `"v1"`)
	w.Header().Set("Content-Type", "text/x-answer")
	fmt.Fprintf(w, "answer %d to %s", n, r.URL.Path)
}

// static writes a fixed answer and returns its path.
func static(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "default.json")
	if err := os.WriteFile(path, []byte(`{"list":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each fault, and what the caller is told: what it was told before where that may be
// used, else the fixed answer; with the rung, the reason and how old it is.
func TestFaultsStepDownToTheBestRung(t *testing.T) {
	for _, c := range []struct {
		fault, mood, path string
		status            int
		why, rung         string
		body              string
		cacheStatus       string
	}{
		{"the upstream answers 500", "fails", "/known", 200, "failed", "cache", "answer 1 to /known", "spillway; fwd=bypass; fwd-status=500; ttl="},
		{"the upstream drops the connection", "drops", "/known", 200, "failed", "cache", "answer 1 to /known", "spillway; fwd=bypass; ttl="},
		{"the upstream hangs", "hangs", "/known", 200, "timeout", "cache", "answer 1 to /known", "spillway; fwd=bypass; ttl="},
		{"the upstream answers 500 and nothing is known", "fails", "/new", 200, "failed", "static", `{"list":[]}`, ""},
		{"the upstream hangs and nothing is known", "hangs", "/new", 200, "timeout", "static", `{"list":[]}`, ""},
	} {
		t.Run(c.fault, func(t *testing.T) {
			service := newMoody()
			h := start(t, fmt.Sprintf(`  all:
    slots: 4
    call: { timeout: 200ms }
    ladder: [ { cache: { ttl: 60s } }, { static: { file: %q } } ]
    abandoned: { cancel: on }
`, static(t)), service.ServeHTTP)
			want(t, h.get("/known"), 200, "served", "primary")
			service.mood.Store(c.mood)
			g := h.get(c.path, "X-Request-Id", "r-1")
			want(t, g, c.status, c.why, c.rung)
			if g.body != c.body || !strings.HasPrefix(g.Header.Get("Cache-Status"), c.cacheStatus) || g.Header.Get("X-Request-Id") != "r-1" {
				t.Errorf("%q, Cache-Status %q, id %q", g.body, g.Header.Get("Cache-Status"), g.Header.Get("X-Request-Id"))
			}
			if c.rung == "cache" && (g.Header.Get("Age") == "" || g.Header.Get("Content-Type") != "text/x-answer") {
				t.Errorf("age %q, type %q", g.Header.Get("Age"), g.Header.Get("Content-Type"))
			}
			metrics := h.adminGet("/metrics").body
			line := fmt.Sprintf(`spillway_answered_total{class="all",reason="%s",resource="app",rung="%s"} 1`, c.why, c.rung)
			if !strings.Contains(metrics, line) {
				t.Errorf("no line %s in\n%s", line, lines(metrics, "spillway_answered_total"))
			}
		})
	}
}

func lines(text, prefix string) (out string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			out += line
		}
	}
	return out
}

// What is refused before any wait is answered from below as well, and the upstream
// hears nothing of it.
func TestARefusalAtAdmissionStepsDown(t *testing.T) {
	service := newMoody()
	h := start(t, fmt.Sprintf(`  all:
    slots: 1
    when_full: reject
    shed: off # it is the full room that is looked at
    budget: { latency: 101ms, service: 100ms }
    ladder: [ { cache: { ttl: 60s } }, { static: { file: %q, status: 503 } } ]
`, static(t)), service.ServeHTTP)
	want(t, h.get("/known"), 200, "served", "primary")
	service.mood.Store("hangs")
	for range 2 { // one runs, one waits
		go h.try("GET", "/known", nil)
	}
	until(t, "one is being served and the waiting room is full", func() bool { return service.seen.Load() == 2 && h.state("all").Waiting == 1 })
	before := service.seen.Load()
	g := h.get("/known")
	want(t, g, 200, "queue_full", "cache")
	if s := g.Header.Get("Cache-Status"); !strings.HasPrefix(s, "spillway; hit; ttl=") || !strings.HasSuffix(s, "; detail=queue_full") {
		t.Errorf("Cache-Status %q", s)
	}
	want(t, h.send("POST", "/known", strings.NewReader("x")), 503, "queue_full", "static")
	if service.seen.Load() != before {
		t.Error("the upstream was asked")
	}
	service.freed <- struct{}{}
	service.freed <- struct{}{}
}

// The time for the stand-in is kept back, of the caller's deadline and of the class's
// own; the upstream is told what is left.
func TestTheDeadlinesReserveIsKeptBack(t *testing.T) {
	service := newMoody()
	h := start(t, fmt.Sprintf(`  all:
    deadline: 20s
    call: { reserve: 5s }
    ladder: [ { static: { file: %q } } ]
`, static(t)), service.ServeHTTP)
	for _, c := range []struct {
		named    string
		at, most int
	}{{"", 10_000, 15_000}, {"8000", 2000, 3000 + 1000}, {"1000", 1, 500}} {
		header := []string{}
		if c.named != "" {
			header = []string{"X-Envoy-Upstream-Rq-Timeout-Ms", c.named}
		}
		h.get("/", header...)
		var left int
		fmt.Sscan(service.left.Load().(string), &left)
		if left > c.most || left < c.at {
			t.Errorf("of %q the upstream was given %d ms, want %d to %d", c.named, left, c.at, c.most)
		}
	}
}

// Whatever a caller sends, an answer is given only to a request that has the same.
func TestAnAnswerIsGivenToNobodyElse(t *testing.T) {
	service := newMoody()
	h := start(t, fmt.Sprintf(`  all:
    tenant: { key: "header:X-Tenant" }
    ladder: [ { cache: { ttl: 60s, ignore: [X-Importance] } }, { static: { file: %q } } ]
`, static(t)), service.ServeHTTP)
	type header = []string
	for _, c := range []struct {
		what       string
		path       string
		mine, your header
		rung       string
	}{
		{"the same request", "/a?x=1", header{"X-Tenant", "acme"}, header{"X-Tenant", "acme"}, "cache"},
		{"another tenant", "/b", header{"X-Tenant", "acme"}, header{"X-Tenant", "rival"}, "static"},
		{"no tenant", "/c", header{"X-Tenant", "acme"}, nil, "static"},
		{"credentials, though the answer does not say public", "/d", header{"Authorization", "Bearer a"}, header{"Authorization", "Bearer a"}, "static"},
		{"other credentials, though the answer says public", "/e?control=public", header{"Authorization", "Bearer a"}, header{"Authorization", "Bearer b"}, "static"},
		{"the same credentials, and the answer says public", "/f?control=public", header{"Authorization", "Bearer a"}, header{"Authorization", "Bearer a"}, "cache"},
		{"another cookie", "/g", header{"Cookie", "sid=1"}, header{"Cookie", "sid=2"}, "static"},
		{"a header that the service may go by without a word", "/h", header{"X-Original-Url", "/evil"}, nil, "static"},
		{"a header of an api key", "/i", header{"X-Api-Key", "k1"}, header{"X-Api-Key", "k2"}, "static"},
		{"another language", "/j", header{"Accept-Language", "de"}, header{"Accept-Language", "en"}, "static"},
		{"another browser", "/k", header{"User-Agent", "one"}, header{"User-Agent", "two"}, "cache"},
		{"another importance, which the operator ignores", "/l", header{"X-Importance", "user"}, nil, "cache"},
		{"another origin", "/m", header{"Origin", "https://a.example"}, header{"Origin", "https://b.example"}, "static"},
	} {
		service.mood.Store("")
		want(t, h.get(c.path, c.mine...), 200, "served", "primary")
		service.mood.Store("fails")
		if g := h.get(c.path, c.your...); g.Header.Get("Spillway-Rung") != c.rung {
			t.Errorf("%s: rung %s, want %s (%q)", c.what, g.Header.Get("Spillway-Rung"), c.rung, g.body)
		}
	}
}

// An earlier answer is given as the request wants it.
func TestAnEarlierAnswerIsGivenAsItIsWanted(t *testing.T) {
	service := newMoody()
	h := start(t, "  all:\n    ladder: [ { cache: { ttl: 60s } } ]\n", service.ServeHTTP)
	want(t, h.get("/a"), 200, "served", "primary")
	service.mood.Store("fails")
	for _, c := range []struct {
		what, method string
		header       []string
		status       int
		body         string
	}{
		{"whole", "GET", nil, 200, "answer 1 to /a"},
		{"its header", "HEAD", nil, 200, ""},
		{"only if it has changed", "GET", []string{"If-None-Match", `"v0", W/"v1"`}, 304, ""},
		{"only if it has changed, and it has", "GET", []string{"If-None-Match", `"v2"`}, 200, "answer 1 to /a"},
		{"in part", "GET", []string{"Range", "bytes=7-7"}, 206, "1"},
		{"in part of another version", "GET", []string{"Range", "bytes=7-7", "If-Range", `"v2"`}, 200, "answer 1 to /a"},
		{"only if it is what the caller knows, which the upstream alone can say", "GET", []string{"If-Match", `"v1"`}, 500, "stack trace"},
	} {
		g := h.send(c.method, "/a", nil, c.header...)
		if g.StatusCode != c.status || g.body != c.body {
			t.Errorf("%s: %d %q, want %d %q", c.what, g.StatusCode, g.body, c.status, c.body)
		}
	}
}

// A body passes on while it is copied: the caller has its first part before the
// upstream sends the second.
func TestAStreamPassesOnWhileItIsCopied(t *testing.T) {
	next := make(chan struct{})
	var fails atomic.Bool
	h := start(t, "  all:\n    ladder: [ { cache: { ttl: 60s, max_bytes: 1KiB } } ]\n", func(w http.ResponseWriter, r *http.Request) {
		if fails.Load() {
			w.WriteHeader(500)
			return
		}
		io.WriteString(w, "first,")
		w.(http.Flusher).Flush()
		<-next
		if r.URL.Path == "/large" {
			w.Write(make([]byte, 1024))
		}
		io.WriteString(w, "second")
	})
	for path, rung := range map[string]string{"/small": "cache", "/large": "primary"} {
		fails.Store(false)
		res, err := h.client.Get(h.url + path)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 6)
		if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "first," {
			t.Fatalf("%q, %v", first, err)
		}
		next <- struct{}{}
		rest, err := io.ReadAll(res.Body)
		if res.Body.Close(); err != nil || !strings.HasSuffix(string(rest), "second") {
			t.Fatalf("%d bytes, %v", len(rest), err)
		}
		fails.Store(true)
		if g := h.get(path); g.Header.Get("Spillway-Rung") != rung || rung == "cache" && g.body != "first,second" {
			t.Errorf("%s: rung %s, %q", path, g.Header.Get("Spillway-Rung"), g.body)
		}
	}
}

// Half an answer is none: the upstream breaks off, and so does the caller.
func TestWhatBrokeOffIsNotKept(t *testing.T) {
	var mood atomic.Value
	mood.Store("breaks")
	h := start(t, "  all:\n    ladder: [ { cache: { ttl: 60s } } ]\n", func(w http.ResponseWriter, r *http.Request) {
		if mood.Load() == "fails" {
			w.WriteHeader(500)
			return
		}
		if r.URL.Path == "/sized" {
			w.Header().Set("Content-Length", "100")
		}
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	for _, path := range []string{"/sized", "/chunked"} {
		mood.Store("breaks")
		if g, err := h.try("GET", path, nil); err == nil {
			t.Errorf("%s ended well: %q", path, g.body)
		}
		mood.Store("fails")
		want(t, h.get(path), 500, "failed", "primary")
	}
}

func TestAChangeVoidsWhatWasKept(t *testing.T) {
	service := newMoody()
	h := start(t, "  all:\n    ladder: [ { cache: { ttl: 60s } } ]\n", service.ServeHTTP)
	h.get("/a?page=1")
	h.get("/b")
	service.mood.Store("fails")
	h.send("POST", "/a", nil) // it failed, and has changed nothing as far as anybody knows
	want(t, h.get("/a?page=1"), 200, "failed", "cache")
	service.mood.Store("")
	h.send("DELETE", "/a", nil)
	service.mood.Store("fails")
	want(t, h.get("/a?page=1"), 500, "failed", "primary")
	want(t, h.get("/b"), 200, "failed", "cache")
}

// A class in shadow is answered by the primary, whatever that says.
func TestAShadowedClassAnswersFromThePrimary(t *testing.T) {
	service := newMoody()
	h := start(t, fmt.Sprintf("  all:\n    mode: shadow\n    ladder: [ { static: { file: %q } } ]\n", static(t)), service.ServeHTTP)
	service.mood.Store("fails")
	want(t, h.get("/"), 500, "failed", "primary")
}

func TestWhatIsKeptOnFileIsThereAfterARestart(t *testing.T) {
	service := newMoody()
	at := serviceAt(t, service.ServeHTTP)
	classes := fmt.Sprintf("  all:\n    ladder: [ { cache: { ttl: 60s, file: %q } } ]\n", filepath.Join(t.TempDir(), "kept.db"))
	ask := func(h *harness, method, path string) got {
		req, err := http.NewRequest(method, h.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "service.example" // at whatever port the gateway listens
		g, err := read(h.client.Do(req))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	h := startAt(t, at, classes)
	ask(h, "GET", "/kept")
	ask(h, "GET", "/void")
	ask(h, "PUT", "/void")
	h.stop()
	h = startAt(t, at, classes)
	service.mood.Store("fails")
	g := ask(h, "GET", "/kept")
	want(t, g, 200, "failed", "cache")
	if g.body != "answer 1 to /kept" {
		t.Error(g.body)
	}
	want(t, ask(h, "GET", "/void"), 500, "failed", "primary")
}

// A file that is another program's is told of at the start, and none is served.
func TestAForeignFileIsRefusedAtTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "foreign.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse("test.yaml", fmt.Appendf(nil, "version: 1\nupstreams: { app: { url: \"http://127.0.0.1:1\" } }\nclasses: { all: { ladder: [ { cache: { ttl: 60s, file: %q } } ] } }\n", path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gateway.New(cfg, gateway.Options{}); err == nil || !strings.Contains(err.Error(), "is no SQLite database; name another file") {
		t.Errorf("%v", err)
	}
}
