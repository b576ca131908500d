package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gateway"
)

func TestAdmin(t *testing.T) {
	b := newBlocker()
	h := start(t, "  all: { slots: 1, order: fifo, tenant: { key: \"header:X-Tenant\" } }", b.ServeHTTP)
	answers := make(chan got, 2)
	for range 2 {
		go func() { answers <- h.get("/", "X-Tenant", "ac\tme") }()
	}
	<-b.began
	until(t, "one waits", func() bool { return h.state("all").Waiting == 1 })

	tests := []struct {
		name, method, path, host, accept string
		status                           int
		holds                            string
	}{
		{"liveness", "GET", "/livez", "", "", 200, "ok\n"},
		{"readiness", "GET", "/readyz", "", "", 200, "ok\n"},
		{"metrics", "GET", "/metrics", "", "", 200, "spillway_waiting{"},
		{"pools as text", "GET", "/debug/pools", "", "text/plain", 200, "all 1 slots of the class are held"},
		{"pools as JSON", "GET", "/debug/pools", "", "application/json", 200, `"why":"all 1 slots of the class are held"`},
		{"pools, a bad number", "GET", "/debug/pools?items=x", "", "", 400, "0 to 1000"},
		{"localhost", "GET", "/livez", "localhost:9900", "", 200, "ok\n"},
		{"IPv6", "GET", "/livez", "[::1]:9900", "", 200, "ok\n"},
		{"a name that was pointed here", "GET", "/metrics", "evil.example", "", 421, "IP address or localhost"},
		{"another method", "POST", "/livez", "", "", 405, ""},
		{"profiles are off", "GET", "/debug/pprof/", "", "", 404, ""},
		{"nothing", "GET", "/", "", "", 404, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, _ := http.NewRequest(tt.method, h.admin+tt.path, nil)
			req.Host = tt.host
			req.Header.Set("Accept", tt.accept)
			res, err := read(h.client.Do(req))
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != tt.status || !strings.Contains(res.body, tt.holds) {
				t.Errorf("%d %s; want %d and %q", res.StatusCode, res.body, tt.status, tt.holds)
			}
		})
	}

	var pools struct {
		Pools []struct {
			Class    string
			Slots    struct{ Used, Guaranteed int }
			Room     struct{ Waiting int }
			Requests []struct {
				State, Tenant string
				AgeMS         float64 `json:"age_ms"`
			}
		}
	}
	if err := json.Unmarshal([]byte(h.adminGet("/debug/pools", "Accept", "application/json").body), &pools); err != nil {
		t.Fatal(err)
	}
	p := pools.Pools[0]
	if p.Class != "all" || p.Slots.Used != 1 || p.Room.Waiting != 1 || len(p.Requests) != 2 ||
		p.Requests[0].State != "running" || p.Requests[1].State != "waiting" || p.Requests[1].Tenant != `ac\tme` {
		t.Errorf("%+v", p)
	}
	for range 2 {
		b.let <- struct{}{}
		<-answers
	}
}

func TestProfilesWhereAskedFor(t *testing.T) {
	h := start(t, "  all: { slots: 1 }", nil, func(o *gateway.Options) { o.Pprof = true })
	if res := h.adminGet("/debug/pprof/cmdline"); res.StatusCode != 200 {
		t.Errorf("answered %d", res.StatusCode)
	}
}

// D5, I4: the admin listener answers while everything else is refused, soon: the
// bound is an order of magnitude above what it takes.
func TestAdminAnswersUnderOverload(t *testing.T) {
	b := newBlocker()
	h := start(t, "  all: { slots: 1, memory: { limit: 1KiB, per_request: 1KiB } }", b.ServeHTTP)
	first := make(chan got, 1)
	go func() { first <- h.get("/") }()
	<-b.began
	stop := make(chan struct{})
	flood := make(chan int, 20)
	for range cap(flood) {
		go func() {
			c := &http.Client{Transport: &http.Transport{}}
			defer c.CloseIdleConnections()
			n := 0
			for ; ; n++ {
				select {
				case <-stop:
					flood <- n
					return
				default:
					read(c.Get(h.url))
				}
			}
		}()
	}
	var took []time.Duration
	for range 50 {
		for _, path := range []string{"/livez", "/readyz", "/metrics", "/debug/pools"} {
			asked := time.Now()
			if res := h.adminGet(path); res.StatusCode != 200 {
				t.Errorf("%s answered %d", path, res.StatusCode)
			}
			took = append(took, time.Since(asked))
		}
	}
	slices.Sort(took)
	if p99 := took[len(took)*99/100]; p99 > time.Second {
		t.Errorf("one in a hundred answers took longer than %v", p99)
	}
	close(stop)
	refused := 0
	for range cap(flood) {
		refused += <-flood
	}
	if refused < 100 {
		t.Errorf("only %d were refused meanwhile: no flood", refused)
	}
	b.let <- struct{}{}
	want(t, <-first, 200, "served", "primary")
}

// I4: a service that is dead, and callers who go on asking it, are no reason to end the
// gateway: liveness is of the process alone.
func TestADeadServiceIsNoReasonToEndTheGateway(t *testing.T) {
	l := listen(t)
	l.Close()
	h := startAt(t, "http://"+l.Addr().String(), "  all: { slots: 1, memory: { limit: 64KiB, per_request: 64KiB } }")
	var asking sync.WaitGroup
	stop, failed := make(chan struct{}), make([]int, 20)
	for i := range failed {
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if g, err := h.try("GET", "/", nil); err != nil || g.StatusCode != 502 && g.StatusCode != 503 {
					t.Errorf("answered %+v, %v", g, err)
				}
				failed[i]++
			}
		})
	}
	for range 50 {
		for _, path := range []string{"/livez", "/readyz"} {
			if g := h.adminGet(path); g.StatusCode != 200 {
				t.Errorf("%s answered %d", path, g.StatusCode)
			}
		}
	}
	close(stop)
	asking.Wait()
	sum := 0
	for _, n := range failed {
		sum += n
	}
	if sum < 100 {
		t.Errorf("only %d requests meanwhile: nobody asked", sum)
	}
}

// I1: what callers make up, paths and tenants, makes no series; the page stays
// small.
func TestCallersMakeNoSeries(t *testing.T) {
	h := start(t, "  all: { slots: 64, tenant: { key: \"header:X-Tenant\" } }", func(http.ResponseWriter, *http.Request) {})
	c := &http.Client{Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	for n := range 3000 {
		req, _ := http.NewRequest("GET", fmt.Sprintf("%s/path/%d", h.url, n), nil)
		req.Header.Set("X-Tenant", fmt.Sprintf("tenant-%d-%s", n, strings.Repeat("x", 200)))
		if _, err := read(c.Do(req)); err != nil {
			t.Fatal(err)
		}
	}
	m := h.adminGet("/metrics").body
	if strings.Contains(m, "/path/") || strings.Count(m, "tenant=") > 50 || len(m) > 1<<20 {
		t.Errorf("%d bytes, %d tenants", len(m), strings.Count(m, "tenant="))
	}
}

// A drain finishes what runs, refuses what is new and says so first.
func TestDrain(t *testing.T) {
	b := newBlocker()
	h := start(t, "  all: { slots: 1 }", b.ServeHTTP)
	answers := make(chan got, 1)
	go func() { answers <- h.get("/runs") }()
	<-b.began
	open := h.dial("GET /late HTTP/1.1\r\nHost: x\r\n") // a request whose header is not complete yet
	stopped := make(chan struct{})
	go func() { h.stop(); close(stopped) }()
	until(t, "/readyz says no", func() bool { return h.adminGet("/readyz").StatusCode == 503 })
	until(t, "new requests are refused", func() bool {
		res, err := h.try("GET", "/new", nil)
		if err != nil {
			return false
		}
		want(t, res, 503, "draining", "refusal")
		return res.Header.Get("Retry-After") != "" && res.Close
	})
	io.WriteString(open, "\r\n")
	late, err := readResponse(open)
	if err != nil {
		t.Fatal(err)
	}
	want(t, late, 503, "draining", "refusal")
	if res := h.adminGet("/livez"); res.StatusCode != 200 {
		t.Errorf("liveness while draining: %d", res.StatusCode)
	}
	b.let <- struct{}{}
	want(t, <-answers, 200, "served", "primary")
	<-stopped
}
