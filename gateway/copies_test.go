package gateway_test

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
)

// copyOf is a copy of a service that a test can kill and bring back.
type copyOf struct {
	testing.TB
	address string
	handler http.HandlerFunc
	calls   atomic.Int64
	server  *httptest.Server
}

func newCopy(t testing.TB, handler http.HandlerFunc) *copyOf {
	c := &copyOf{TB: t, address: "127.0.0.1:0", handler: handler}
	c.revive()
	t.Cleanup(c.kill)
	return c
}

func (c *copyOf) revive() {
	c.Helper()
	l, err := net.Listen("tcp", c.address)
	if err != nil {
		c.Fatal(err)
	}
	c.address = l.Addr().String()
	c.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.calls.Add(1)
		if c.handler != nil {
			c.handler(w, r)
		}
	}))
	c.server.Listener.Close()
	c.server.Listener = l
	c.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	c.server.Start()
}

func (c *copyOf) kill() {
	if c.server != nil {
		c.server.CloseClientConnections()
		c.server.Close()
		c.server = nil
	}
}

// startCopies runs a gateway in front of copies; more is further keys of the
// upstream.
func startCopies(t testing.TB, more, classes string, all ...*copyOf) *harness {
	t.Helper()
	var urls []string
	for _, c := range all {
		urls = append(urls, fmt.Sprintf("%q", "http://"+c.address))
	}
	return startYAML(t, fmt.Sprintf("upstreams: { app: { urls: [%s]%s } }\nclasses:\n%s", strings.Join(urls, ", "), more, classes))
}

func startYAML(t testing.TB, text string, change ...func(*gateway.Options)) *harness {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte("version: 1\n"+text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return startConfig(t, cfg, change...)
}

type shownCopy struct {
	Copy, State, Check string
	InFlight           int `json:"in_flight"`
	Calls              map[string]int64
}

// copies is what /debug/upstreams shows, by copy.
func (h *harness) copies() map[string]shownCopy {
	h.Helper()
	var shown struct{ Copies []shownCopy }
	if err := json.Unmarshal([]byte(h.adminGet("/debug/upstreams", "Accept", "application/json").body), &shown); err != nil {
		h.Fatal(err)
	}
	all := make(map[string]shownCopy)
	for _, c := range shown.Copies {
		all[c.Copy] = c
	}
	return all
}

// A copy is killed in the middle of traffic: after the connections that broke with it
// nobody sees it, for what cannot be connected goes to the other; it is left out,
// and comes back by itself.
func TestACopyIsKilledInTheMiddleOfTraffic(t *testing.T) {
	a, b := newCopy(t, nil), newCopy(t, nil)
	h := startCopies(t, ", eject: { in_a_row: 3, for: 200ms }", "  all: { slots: 8 }", a, b)
	for range 4 {
		want(t, h.get("/"), 200, "served", "primary")
	}
	if a.calls.Load() != 2 || b.calls.Load() != 2 {
		t.Fatalf("%d and %d of 4", a.calls.Load(), b.calls.Load())
	}
	a.kill()
	broken := 0
	until(t, "the dead copy is ejected", func() bool {
		if h.get("/").StatusCode != 200 {
			broken++
		}
		return h.copies()[a.address].State == "ejected"
	})
	if broken > 1 {
		t.Errorf("%d requests failed; one connection was open when the copy died", broken)
	}
	for range 10 {
		want(t, h.get("/"), 200, "served", "primary")
	}
	a.revive()
	before := a.calls.Load()
	until(t, "it is used again", func() bool { want(t, h.get("/"), 200, "served", "primary"); return a.calls.Load() > before })
	if m := h.adminGet("/metrics").body; !strings.Contains(m, `spillway_copy_in{copy="`+b.address+`",resource="app"} 1`) {
		t.Error("no metric of a copy")
	}
	if text := h.adminGet("/debug/upstreams").body; !strings.Contains(text, b.address) || !strings.Contains(text, "answered") {
		t.Errorf("as text:\n%s", text)
	}
}

// Whatever could not be connected goes elsewhere whole: also a body that is sent as it
// comes, by the long way.
func TestAnUploadGoesToAnotherCopyWhole(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 32<<10)
	var got atomic.Int64
	a := newCopy(t, nil)
	b := newCopy(t, func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		got.Store(n)
	})
	h := startCopies(t, ", eject: off", "  all: { slots: 8 }", a, b)
	a.kill()
	for range 4 {
		want(t, h.send("POST", "/", bytes.NewReader(body)), 200, "served", "primary")
		if got.Load() != int64(len(body)) {
			t.Errorf("%d of %d bytes arrived", got.Load(), len(body))
		}
	}
}

// A copy that has frozen is late once or twice for its callers, holds its slots (it may
// still work), and gets no more.
func TestAFrozenCopyGetsNoMore(t *testing.T) {
	thaw := make(chan struct{})
	frozen := newCopy(t, func(http.ResponseWriter, *http.Request) { <-thaw })
	well := newCopy(t, nil)
	h := startCopies(t, ", eject: { in_a_row: 2, for: 1h }", "  all: { slots: 20, deadline: 100ms, max_deadline: 100ms, budget: { latency: 100ms } }", frozen, well)
	t.Cleanup(func() { close(thaw); h.stop() })
	late := 0
	until(t, "the frozen copy is ejected", func() bool {
		var wait sync.WaitGroup
		var mu sync.Mutex
		for range 4 {
			wait.Go(func() {
				g := h.get("/")
				mu.Lock()
				defer mu.Unlock()
				if g.StatusCode == 504 {
					late++
				}
			})
		}
		wait.Wait()
		return h.copies()[frozen.address].State == "ejected"
	})
	if late == 0 || h.copies()[frozen.address].InFlight == 0 {
		t.Errorf("%d were late, %d in flight at a copy that may still work on them", late, h.copies()[frozen.address].InFlight)
	}
	for range 10 {
		want(t, h.get("/"), 200, "served", "primary")
	}
}

// All are down: everybody is told at once, nothing waits and nothing is held; the
// first that is back serves.
func TestAllCopiesDownIsNoWedge(t *testing.T) {
	a, b := newCopy(t, nil), newCopy(t, nil)
	h := startCopies(t, ", eject: { in_a_row: 2, for: 1h }", "  all: { slots: 2 }", a, b)
	a.kill()
	b.kill()
	for range 20 {
		want(t, h.get("/"), 502, "failed", "refusal")
	}
	if s := h.state("all"); s.Used != 0 || s.Waiting != 0 {
		t.Errorf("%d held, %d waiting", s.Used, s.Waiting)
	}
	b.revive()
	until(t, "the copy that is back serves", func() bool { return h.get("/").StatusCode == 200 })
}

// E4: a copy that says it is busy, and one that the gateway itself may not connect to,
// have not failed.
func TestRefusalsAreNoFailuresOfACopy(t *testing.T) {
	busy := newCopy(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
	well := newCopy(t, nil)
	h := startCopies(t, ", eject: { in_a_row: 1, for: 1h }", "  all: { slots: 8 }", busy, well)
	until(t, "it was asked", func() bool { h.get("/"); return busy.calls.Load() > 2 })
	if c := h.copies()[busy.address]; c.State != "in" || c.Calls["busy"] == 0 {
		t.Errorf("%+v; what sheds load is not left out, or its load would take the others down too", c)
	}

	b := newBlocker()
	one := newCopy(t, b.ServeHTTP)
	capped := startCopies(t, ", connections: 1, eject: { in_a_row: 1, for: 1h }", "  all: { slots: 8 }", one)
	first := make(chan got, 1)
	go func() { first <- capped.get("/") }()
	<-b.began
	want(t, capped.get("/"), 502, "failed", "refusal")
	if c := capped.copies()[one.address]; c.State != "in" || c.Calls["failed"] != 0 {
		t.Errorf("%+v; the cap is ours", c)
	}
	b.let <- struct{}{}
	want(t, <-first, 200, "served", "primary")
}

// A caller that allows a millisecond can have nobody ejected.
func TestImpatientCallersEjectNobody(t *testing.T) {
	a := newCopy(t, func(http.ResponseWriter, *http.Request) { <-time.After(200 * time.Millisecond) })
	b := newCopy(t, func(http.ResponseWriter, *http.Request) { <-time.After(200 * time.Millisecond) })
	h := startCopies(t, ", eject: { in_a_row: 2, for: 1h }", "  all: { slots: 40, feasible: off }", a, b)
	for range 2 { // what is usual is known then
		want(t, h.get("/"), 200, "served", "primary")
	}
	for range 20 {
		h.get("/", "X-Envoy-Upstream-Rq-Timeout-Ms", "1")
	}
	for name, c := range h.copies() {
		if c.State != "in" {
			t.Errorf("%s is %s", name, c.State)
		}
	}
}

func TestAnUpstreamOnAUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.Host, r.URL)
	})}
	done := make(chan struct{})
	go func() { server.Serve(l); close(done) }()
	t.Cleanup(func() { server.Close(); <-done })
	h := startYAML(t, fmt.Sprintf("upstreams: { app: { url: %q } }\nclasses: { all: { slots: 2 } }\n", "unix:"+path))
	if g := h.get("/a?b=c"); g.body != h.addr+"/a?b=c" {
		t.Errorf("the service saw %q", g.body)
	}
	if g := h.send("POST", "/long", strings.NewReader(strings.Repeat("x", 1<<20))); g.body != h.addr+"/long" {
		t.Errorf("by the long way it saw %q", g.body)
	}
}

// What is wrong with an upstream's TLS is said in the log, with what would be right,
// and to the caller not at all.
func TestTLSToAnUpstream(t *testing.T) {
	service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }))
	service.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	t.Cleanup(service.Close)
	var mu sync.Mutex
	var log strings.Builder
	logged := func(o *gateway.Options) { o.Logger = slog.New(slog.NewTextHandler(&locked{&mu, &log}, nil)) }
	h := startYAML(t, fmt.Sprintf("upstreams: { app: { url: %q } }\nclasses: { all: { slots: 2 } }\n", service.URL), logged)
	g := h.get("/")
	want(t, g, 502, "failed", "refusal")
	mu.Lock()
	said := log.String()
	mu.Unlock()
	if !strings.Contains(said, "name who signs it with tls: { ca: FILE }") || strings.Contains(g.body, "sign") {
		t.Errorf("log:\n%s\nanswer: %s", said, g.body)
	}
	ca := writeCA(t, service)
	h = startYAML(t, fmt.Sprintf("upstreams: { app: { url: %q, tls: { ca: %q, server_name: example.com } } }\nclasses: { all: { slots: 2 } }\n", service.URL, ca))
	if g := h.get("/"); g.body != "hello" {
		t.Errorf("%d %s", g.StatusCode, g.body)
	}
}

// Checks that fail leave a copy out before a caller has to find out.
func TestChecksLeaveACopyOut(t *testing.T) {
	var ill atomic.Bool
	a := newCopy(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && ill.Load() {
			w.WriteHeader(500)
		}
	})
	b := newCopy(t, nil)
	h := startCopies(t, ", health: { path: /healthz, interval: 10ms, unhealthy: 2 }", "  all: { slots: 2 }", a, b)
	ill.Store(true)
	until(t, "it is left out", func() bool { return h.copies()[a.address].State == "unhealthy" })
	if s := h.state("all"); s.Tally.Offered != 0 {
		t.Errorf("%d checks count as traffic", s.Tally.Offered)
	}
	ill.Store(false)
	until(t, "it is back", func() bool { return h.copies()[a.address].State != "unhealthy" })
}

// locked is a writer for several goroutines.
type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// writeCA writes the certificate that a test service signs its own with.
func writeCA(t *testing.T, s *httptest.Server) string {
	path := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A reload that concerns the copies' slots alone keeps what is known of them; one that
// moves the upstream begins anew, and whoever runs at an old copy ends there.
func TestAReloadKeepsWhatIsKnownOfCopies(t *testing.T) {
	b := newBlocker()
	one, two := newCopy(t, b.ServeHTTP), newCopy(t, nil)
	now := fmt.Sprintf("urls: [\"http://%s\"], slots: 4", one.address)
	load := func() (*config.Config, error) {
		return config.Parse("test.yaml", []byte("version: 1\nupstreams: { app: { "+now+" } }\nclasses: { all: { slots: 4 } }\n"))
	}
	cfg, err := load()
	if err != nil {
		t.Fatal(err)
	}
	h := startConfig(t, cfg, func(o *gateway.Options) { o.Load = load })
	first := make(chan got, 1)
	go func() { first <- h.get("/") }()
	<-b.began
	now = fmt.Sprintf("urls: [\"http://%s\"], slots: 6", one.address)
	if _, err := h.Reload("test"); err != nil {
		t.Fatal(err)
	}
	if c := h.copies()[one.address]; c.InFlight != 1 {
		t.Errorf("%+v; one is in flight", c)
	}
	now = fmt.Sprintf("urls: [\"http://%s\"], slots: 6", two.address)
	if _, err := h.Reload("test"); err != nil {
		t.Fatal(err)
	}
	want(t, h.get("/"), 200, "served", "primary")
	if two.calls.Load() != 1 || one.calls.Load() != 1 {
		t.Errorf("%d calls at the old copy, %d at the new", one.calls.Load(), two.calls.Load())
	}
	b.let <- struct{}{}
	want(t, <-first, 200, "served", "primary")
	now = "url: \"https://127.0.0.1:1\", tls: { ca: nowhere.pem }"
	if _, err := h.Reload("test"); err == nil || !strings.Contains(err.Error(), "nowhere.pem") {
		t.Errorf("a file of TLS that is not there: %v", err)
	}
	want(t, h.get("/"), 200, "served", "primary")
}

// A reload that changes weights alone drains a copy and brings it back, and keeps what
// is known of all.
func TestAReloadDrainsACopyByItsWeight(t *testing.T) {
	b := newBlocker()
	one, two := newCopy(t, b.ServeHTTP), newCopy(t, nil)
	weight := 1
	load := func() (*config.Config, error) {
		return config.Parse("test.yaml", fmt.Appendf(nil, "version: 1\nupstreams: { app: { urls: [{ url: \"http://%s\", weight: %d }, \"http://%s\"], slots: 8 } }\nclasses: { all: { slots: 4 } }\n",
			one.address, weight, two.address))
	}
	cfg, err := load()
	if err != nil {
		t.Fatal(err)
	}
	h := startConfig(t, cfg, func(o *gateway.Options) { o.Load = load })
	reload := func(w int) {
		weight = w
		if _, err := h.Reload("test"); err != nil {
			t.Fatal(err)
		}
	}
	first := make(chan got, 1)
	for busy := false; !busy; { // whosever turn it is
		go func() { first <- h.get("/") }()
		select {
		case <-b.began:
			busy = true
		case g := <-first:
			want(t, g, 200, "served", "primary")
		}
	}
	reload(0)
	for range 10 {
		want(t, h.get("/"), 200, "served", "primary")
	}
	if c := h.copies()[one.address]; c.State != "drained" || c.InFlight != 1 || one.calls.Load() != 1 {
		t.Errorf("%+v after %d calls; it ends the one it has", c, one.calls.Load())
	}
	b.let <- struct{}{}
	want(t, <-first, 200, "served", "primary")
	reload(3)
	if c := h.copies()[one.address]; c.State != "starting slowly" || c.Calls["answered"] != 1 {
		t.Errorf("%+v; it rested, and what is known of it is kept", c)
	}
	reload(0)
	if text := h.adminGet("/debug/upstreams").body; !strings.Contains(text, "drained") {
		t.Errorf("as text:\n%s", text)
	}
}
