package shadow

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
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/tally"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/trace"
)

// file is offered twice what its slots can do, by tenants with different shares.
const file = `version: 1
listen: "127.0.0.1:0"
admin: "127.0.0.1:0"
upstreams: { app: { url: "%s" } }
classes:
  checkout:
    match: { path: "/checkout/*" }
    slots: 4
    budget: { latency: 200ms, service: 40ms }
    deadline: 1s
    tenant: { key: "header:X-Tenant", policy: wrr, weights: { acme: 3, beta: 1 } }
    mode: shadow
  slow:
    match: { path: "/slow/*" }
    slots: 2
    deadline: 60ms
    mode: shadow
record: { file: "%s" }
`

// service works for 40 ms, or for 100 ms, which is longer than its callers wait.
func service(w http.ResponseWriter, r *http.Request) {
	work := 40 * time.Millisecond
	if r.URL.Path == "/slow/x" {
		work = 100 * time.Millisecond
	}
	<-time.After(work)
	io.WriteString(w, "done")
}

// live offers load to a gateway in shadow that records. It returns the classes'
// accounts and what the answers said of the shadow.
func live(t *testing.T, cfg *config.Config) ([]boundary.ClassState, *report.Report) {
	t.Helper()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, gateway.Options{Listener: front, DrainLimit: 5 * time.Second, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	names := workload.NewNames()
	stream := func(class string, perSecond float64) workload.Source {
		s := workload.Spec{Seed: 1, Stream: class, Classes: workload.Only(class), For: 2 * time.Second}
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
		URL: "http://" + front.Addr().String() + "/{{.Class}}/x", Header: []string{"X-Tenant: {{.Tenant}}"},
		Source: workload.Merge(stream("checkout", 200), stream("slow", 30)), Names: names, Timeout: 5 * time.Second,
		Collector: report.NewCollector(report.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	return g.Gate("app").States(), result.Collector.Report(report.About{Mode: "live", Seconds: 2})
}

// What a live gateway in shadow counted is what the simulator says of its
// recording, whether that is played in shadow too or in force. That they agree to
// the request where instants are the same is test/script's to show.
func TestSimulationOfARecordingAgreesWithTheShadow(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(service))
	defer upstream.Close()
	path := filepath.Join(t.TempDir(), "traffic.rec")
	cfg, err := config.Parse("test.yaml", fmt.Appendf(nil, file, upstream.URL, path))
	if err != nil {
		t.Fatal(err)
	}
	did, said := live(t, cfg)
	for i := range did {
		c := &did[i]
		if c.Tally.Answered[reason.Served] != c.Tally.Offered || c.Tally.Offered == 0 {
			t.Errorf("%s: in shadow not everybody was served: %+v", c.Name, c.Tally)
		}
		if c.Shadow.Tally.Answered[reason.Served] > c.Shadow.Tally.Offered*2/3 {
			t.Fatalf("%s: that is no overload: %+v", c.Name, c.Shadow.Tally)
		}
		// Who measures from outside is told what was decided at admission.
		g := said.Classes[c.Name]
		if g.Shadow.Offered != c.Tally.Offered || g.Shadow.Reasons["served"] == 0 || g.Shadow.Reasons["served"] == g.Shadow.Offered {
			t.Errorf("%s: the answers said %+v, %d were offered", c.Name, g.Shadow, c.Tally.Offered)
		}
	}
	for _, mode := range []config.ModeKind{config.ModeEnforce, config.ModeShadow} {
		replayed := replay(t, cfg, path, mode)
		for i := range did {
			c := &did[i]
			var got map[string]int64
			if g := replayed.Classes[c.Name]; mode == config.ModeShadow {
				got = g.Shadow.Reasons
			} else {
				got = g.Reasons
			}
			agrees(t, fmt.Sprintf("%s, played in mode %s", c.Name, mode), &c.Shadow.Tally, got)
		}
	}
}

func replay(t *testing.T, cfg *config.Config, path string, mode config.ModeKind) *report.Report {
	t.Helper()
	cfg = cfg.WithDefaults()
	for i := range cfg.Classes {
		cfg.Classes[i].Mode.Kind = mode
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
	return result.Report
}

// agrees holds the two to each other: who is served, who is refused at admission,
// and who is lost later. It allows one in twenty of all requests, and five, for
// who is last to find a place in a full moment hangs on a microsecond, and the
// recording has a clock of its own; a shadow that did not follow the policy would
// be off by half. Which of two bounds a refusal is for hangs on less.
func agrees(t *testing.T, what string, counted *tally.Tally, replayed map[string]int64) {
	t.Helper()
	var shadow, sim [3]int64 // served, refused, lost
	for why, n := range counted.Answered {
		r, band := reason.Reason(why), 2
		switch {
		case r == reason.Served:
			band = 0
		case r.AtAdmission():
			band = 1
		}
		shadow[band] += n
		sim[band] += replayed[r.String()]
	}
	for band, name := range []string{"served", "refused at admission", "lost later"} {
		if math.Abs(float64(shadow[band]-sim[band])) > 0.05*float64(counted.Offered)+5 {
			t.Errorf("%s: the shadow counted %d %s, the simulator has %d (%+v, %v)", what, shadow[band], name, sim[band], counted.Answered, replayed)
		}
	}
}
