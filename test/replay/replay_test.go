package replay

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/record"
	"github.com/spillway-dev/spillway/workload/trace"
)

// file is served with half of what it is offered: the rest is refused, by tenant
// and by room, and some of it runs into its deadline.
const file = `version: 1
listen: "127.0.0.1:0"
admin: "127.0.0.1:0"
upstreams: { app: { url: "%[1]s", slots: 6 }, other: { url: "%[1]s", slots: 2 } }
classes:
  checkout:
    match: { path: "/checkout/*" }
    upstream: app
    slots: 4
    budget: { latency: 200ms, service: 40ms }
    deadline: 1s
    tenant: { key: "header:X-Tenant", policy: wrr, weights: { acme: 3, beta: 1 } }
    session: { key: "header:X-Session" }
  slow: { match: { path: "/slow/*" }, upstream: app, slots: 2, deadline: 60ms }
  cut:  { match: { path: "/cut/*" }, upstream: other, slots: 2, deadline: 60ms, abandoned: { cancel: on } }
record: { file: "%[2]s" }
`

// service works for 40 ms, or for 100 ms, which is longer than its callers wait.
func service(w http.ResponseWriter, r *http.Request) {
	work := 40 * time.Millisecond
	if r.URL.Path != "/checkout/x" {
		work = 100 * time.Millisecond
	}
	<-time.After(work)
	io.WriteString(w, "done")
}

// account is a class's requests by reason.
type account map[string]map[string]int64

// live offers load to a gateway that records, and returns the gateway's account.
func live(t *testing.T, cfg *config.Config) account {
	t.Helper()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, gateway.Options{Listener: front, DrainLimit: 5 * time.Second, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()

	names := workload.NewNames()
	stream := func(class string, perSecond float64) workload.Source {
		s := workload.Spec{Seed: 1, Stream: class, Classes: workload.Only(class), For: 2 * time.Second, Sessions: 50}
		if s.Rate, err = workload.ConstantRate(perSecond); err == nil {
			s.Tenants, err = workload.ParseMix("acme=1,beta=1,gamma=1")
		}
		if err != nil {
			t.Fatal(err)
		}
		source, err := s.Source(names)
		if err != nil {
			t.Fatal(err)
		}
		return source
	}
	result, err := load.Run(ctx, load.Config{
		URL: "http://" + front.Addr().String() + "/{{.Class}}/x", Header: []string{"X-Tenant: {{.Tenant}}", "X-Session: {{.Session}}"},
		Source: workload.Merge(stream("checkout", 200), stream("slow", 30), stream("cut", 30)), Names: names, Timeout: 5 * time.Second,
		Collector: report.NewCollector(report.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.Unsent > 0 {
		t.Fatalf("%d requests were not sent", result.Unsent)
	}
	cancel()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	all := make(account)
	for _, s := range append(g.Gate("app").States(), g.Gate("other").States()...) {
		by := map[string]int64{"offered": s.Tally.Offered}
		for why, n := range s.Tally.Answered {
			if n > 0 {
				by[reason.Reason(why).String()] = n
			}
		}
		all[s.Name] = by
	}
	return all
}

// recorded is the account that a recording gives.
func recorded(t *testing.T, path string) account {
	t.Helper()
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all := make(account)
	var q record.Request
	for r.Next(&q) {
		class, why := r.Header().Class(&q), r.Header().Outcome(&q)
		if all[class] == nil {
			all[class] = make(map[string]int64)
		}
		all[class]["offered"]++
		all[class][why]++
		if why == "served" && (q.Service < 40*time.Millisecond || q.Service > time.Second) {
			t.Errorf("a request of 40 ms held its slot for %v", q.Service)
		}
		if why == "timeout" && class == "slow" && q.Service < 100*time.Millisecond {
			t.Errorf("a caller gave up after 60 ms and its slot was held for %v, but the service works for 100 ms", q.Service)
		}
		if class == "checkout" && (q.Tenant == 0 || q.Session == 0) {
			t.Errorf("no tenant or session in %+v", q)
		}
	}
	if s := r.Stats(); s.Lost != 0 || s.Damaged != 0 {
		t.Errorf("stats of the recording: %+v", s)
	}
	return all
}

// TestRoundTrip: what is recorded is the gateway's account to the last request,
// and replayed in virtual time under the same configuration, scheduling apart,
// it comes to the same.
func TestRoundTrip(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(service))
	defer upstream.Close()
	path := filepath.Join(t.TempDir(), "traffic.rec")
	cfg, err := config.Parse("test.yaml", fmt.Appendf(nil, file, upstream.URL, path))
	if err != nil {
		t.Fatal(err)
	}
	did := live(t, cfg)
	if did["checkout"]["served"] == 0 || did["checkout"]["served"] > did["checkout"]["offered"]*2/3 || did["slow"]["timeout"] == 0 || did["cut"]["timeout"] == 0 {
		t.Fatalf("the load does not show what it is to show: %v", did)
	}
	if got := recorded(t, path); fmt.Sprint(got) != fmt.Sprint(did) {
		t.Errorf("recorded %v\n     did %v", got, did)
	}

	names := workload.NewNames()
	r, err := trace.Open(path, trace.Options{Names: names, Tenants: cfg.TenantNames()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	result, err := trial.Trial{Config: cfg, Names: names, Loads: []trial.Load{{Source: r, Classed: r.Classed(), Timed: r.Timed()}}}.Run(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, by := range did {
		c := result.Report.Classes[name]
		if c.Offered != by["offered"] {
			t.Errorf("%s: %d replayed of %d offered", name, c.Offered, by["offered"])
		}
		if replayed := c.Reasons["served"] + c.Reasons["timeout"]; !near(replayed, by["served"]+by["timeout"]) {
			t.Errorf("%s: %d ran in the replay, %d did (%v, %v)", name, replayed, by["served"]+by["timeout"], c.Reasons, by)
		}
	}
	// The weighted tenants are told although the recording has only their hashes.
	acme, beta := result.Report.Tenants["acme"], result.Report.Tenants["beta"]
	if acme == nil || beta == nil || acme.Reasons["served"] <= beta.Reasons["served"] {
		t.Errorf("of tenants that weigh 3 and 1, acme %+v, beta %+v", acme, beta)
	}
}

// near allows a tenth and a little: live, a tick of the scheduler decides who
// finds a free place.
func near(a, b int64) bool {
	return math.Abs(float64(a-b)) <= 0.1*float64(max(a, b))+5
}
