package gateway_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/sqlite"
	"github.com/spillway-dev/spillway/policy/quota"
)

// underQuota runs a gateway whose one class goes by a quota, on a ledger in a file. At
// the end of the test the ledger is audited, and its calls are as wanted: how many in
// which state.
func underQuota(t *testing.T, service http.HandlerFunc, limits, class string, want map[quota.State]int) *harness {
	t.Helper()
	return underQuotaAt(t, serviceAt(t, service), limits, class, want)
}

func underQuotaAt(t *testing.T, upstream, limits, class string, want map[quota.State]int) *harness {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ledger.db")
	cfg, err := config.Parse("test.yaml", fmt.Appendf(nil, `
upstreams: { app: { url: %q } }
quotas: { provider: %s }
ledger: { url: "sqlite:%s" }
classes:
  all: { quota: provider, slots: 8, feasible: off%s }
`, upstream, limits, file, class))
	if err != nil {
		t.Fatal(err)
	}
	h := startConfig(t, cfg)
	t.Cleanup(func() {
		h.stop()
		if got := calls(t, file); !maps.Equal(got, want) {
			t.Errorf("the ledger has %v, want %v", got, want)
		}
	})
	return h
}

// calls returns how many calls a ledger has in which state, once it has been audited.
func calls(t *testing.T, file string) map[quota.State]int {
	t.Helper()
	s, err := sqlite.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(context.Background(), s, "the test") // audits
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	states := map[quota.State]int{}
	err = s.View(context.Background(), func(r ledger.Rows) error {
		return r.All(func(c ledger.Call) error {
			states[c.State]++
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return states
}

// A provider sells two requests at once: two are served, the third is told which
// budget it is and when to come back, and never reaches the provider.
func TestAQuotaOfRequests(t *testing.T) {
	var met atomic.Int32
	h := underQuota(t, func(w http.ResponseWriter, r *http.Request) { met.Add(1) }, "{ requests: { burst: 2, per_hour: 1 } }", ", deadline: 1s",
		map[quota.State]int{quota.Settled: 2})
	for i, want := range []string{"served", "served", "quota_requests", "quota_requests"} {
		a := h.get("/")
		if got := a.Header.Get("Spillway-Reason"); got != want {
			t.Fatalf("request %d: %s, want %s", i+1, got, want)
		}
		if want != "quota_requests" {
			continue
		}
		if a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") < "1" {
			t.Errorf("%d, Retry-After %q", a.StatusCode, a.Header.Get("Retry-After"))
		}
		if a.Header.Get("X-Should-Retry") != "false" {
			t.Errorf("an hour is longer than clients obey, and they are not told not to come back")
		}
	}
	if n := met.Load(); n != 2 {
		t.Errorf("the provider met %d", n)
	}
}

// The third of two at once waits until one of them has ended, and is then served.
func TestAQuotaOfCallsAtOnce(t *testing.T) {
	release := make(chan struct{})
	var now, most atomic.Int32
	h := underQuota(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-release
		now.Add(-1)
	}, "{ concurrent: 2 }", "", map[quota.State]int{quota.Settled: 6})
	answers := make(chan string, 6)
	for range 6 {
		go func() { answers <- h.get("/").Header.Get("Spillway-Reason") }()
	}
	h.eventually("two run and four wait", func() bool {
		s := h.Gate("app").States()[0].Tally
		return s.Running == 2 && s.Waiting == 4
	})
	close(release)
	for range 6 {
		if a := <-answers; a != "served" {
			t.Errorf("%s", a)
		}
	}
	if most.Load() > 2 {
		t.Errorf("%d ran at once", most.Load())
	}
}

// A caller who hangs up gives no slot back: the call's end does.
func TestAHangUpKeepsTheSlotOfTheQuota(t *testing.T) {
	release, met := make(chan struct{}), make(chan struct{})
	h := underQuota(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(met)
			<-release
		}
	}, "{ concurrent: 1 }", ", deadline: 20s", map[quota.State]int{quota.Settled: 2})
	ctx, hangUp := context.WithCancel(context.Background())
	first := make(chan struct{})
	go func() {
		defer close(first)
		req, _ := http.NewRequestWithContext(ctx, "GET", h.url+"/slow", nil)
		if res, err := h.client.Do(req); err == nil {
			res.Body.Close()
		}
	}()
	<-met
	hangUp()
	<-first
	h.eventually("it is abandoned", func() bool { return h.Gate("app").States()[0].Tally.Abandoned == 1 })
	second := make(chan string)
	go func() { second <- h.get("/").Header.Get("Spillway-Reason") }()
	h.eventually("the second waits", func() bool { return h.Gate("app").States()[0].Tally.Waiting == 1 })
	close(release)
	if a := <-second; a != "served" {
		t.Error(a)
	}
}

// Of a call whose connection breaks once it was sent nobody knows whether it goes on:
// its slot stays taken.
func TestABrokenConnectionIsUnknown(t *testing.T) {
	h := underQuota(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			c.Close()
		}
	}, "{ concurrent: 1 }", ", deadline: 300ms, call: { retries: 0 }", map[quota.State]int{quota.Unknown: 1})
	if a := h.send("POST", "/", strings.NewReader("text")); a.Header.Get("Spillway-Reason") != "failed" {
		t.Fatal(a.Header.Get("Spillway-Reason"))
	}
	a := h.get("/")
	if why := a.Header.Get("Spillway-Reason"); why != "quota_concurrency" && why != "expired" {
		t.Errorf("%s", why)
	}
}

// A call for which no connection could be made was never sent, and costs nothing.
func TestWhatWasNeverSentIsGivenBack(t *testing.T) {
	l := listen(t)
	l.Close()
	h := underQuotaAt(t, "http://"+l.Addr().String(), "{ requests: { burst: 1, per_hour: 1 }, concurrent: 1 }", ", deadline: 2s",
		map[quota.State]int{quota.Released: 3})
	for range 3 {
		if a := h.get("/"); a.Header.Get("Spillway-Reason") != "failed" {
			t.Errorf("%s", a.Header.Get("Spillway-Reason"))
		}
		if err := h.Gate("app").WaitSettled(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Each attempt takes of the quota by itself, and what became of each is known by itself.
func TestEveryAttemptReservesForItself(t *testing.T) {
	var met atomic.Int32
	h := underQuota(t, func(w http.ResponseWriter, r *http.Request) {
		if met.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "answer")
	}, "{ requests: { burst: 3, per_hour: 1 } }", ", deadline: 5s, call: { retries: 1 }", map[quota.State]int{quota.Settled: 3})
	for _, want := range []string{"served", "served", "quota_requests"} {
		if a := h.get("/"); a.Header.Get("Spillway-Reason") != want {
			t.Errorf("%s, want %s", a.Header.Get("Spillway-Reason"), want)
		}
	}
	if n := met.Load(); n != 3 {
		t.Errorf("the provider met %d", n)
	}
}

// A tenant that has used its own up holds up nobody else.
func TestATenantsOwnQuota(t *testing.T) {
	h := underQuota(t, func(w http.ResponseWriter, r *http.Request) {}, "{ requests: { per_second: 1000 }, per_tenant: { requests: { burst: 1, per_hour: 1 } } }",
		`, deadline: 2s, tenant: { key: "header:X-Tenant" }`, map[quota.State]int{quota.Settled: 2})
	var got []string
	for _, tenant := range []string{"a", "a", "b", "b"} {
		got = append(got, h.get("/", "X-Tenant", tenant).Header.Get("Spillway-Reason"))
	}
	if want := []string{"served", "quota_requests", "served", "quota_requests"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Without a ledger that answers nothing is sent.
func TestAQuotaFailsClosed(t *testing.T) {
	var met atomic.Int32
	h := underQuota(t, func(w http.ResponseWriter, r *http.Request) { met.Add(1) }, "{ concurrent: 5 }", ", deadline: 2s", map[quota.State]int{})
	h.WithoutLedger()
	a := h.get("/")
	if a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Spillway-Reason") != "ledger_unavailable" || met.Load() != 0 {
		t.Errorf("%d %s, %d sent", a.StatusCode, a.Header.Get("Spillway-Reason"), met.Load())
	}
}
