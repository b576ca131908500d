package trial_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/trace"
)

const matched = `version: 1
upstreams: { app: { url: "http://127.0.0.1:1", slots: 6, service: 100ms } }
classes:
  pay:   { match: { path: "/checkout/*", method: POST }, slots: 2, tenant: { key: client, weights: { acme: 2 } } }
  beta:  { match: { path: "/*", headers: { X-Beta: "*" } }, slots: 1 }
  media: { match: { path: "/media/*", host: "*.example.com" }, slots: 2 }
  pages: { match: { path: "/a b/*" }, slots: 2 }
`

// TestClassify: a log's requests are of the classes that the gateway would have
// taken them for.
func TestClassify(t *testing.T) {
	classify, blind := trial.Classify(configuration(t, matched))
	for _, c := range []struct{ method, host, path, want string }{
		{"POST", "", "/checkout/1", "pay"},
		{"GET", "", "/checkout/1", ""},
		{"POST", "", "/x/../checkout/1", "pay"},
		{"POST", "", "/checkout/../x", ""},
		{"GET", "cdn.example.com:443", "/media/a", "media"},
		{"GET", "", "/media/a", ""},
		{"GET", "", "/a%20b/c", "pages"},
		{"GET", "", "/a%2", ""},
	} {
		if got := classify(trace.Asked{Method: c.method, Host: c.host, Path: c.path}); got != c.want {
			t.Errorf("%s %s%s is taken for %q, want %q", c.method, c.host, c.path, got, c.want)
		}
	}
	if !slices.Equal(blind, []string{"beta"}) {
		t.Errorf("classes that ask for headers: %q, want beta", blind)
	}
}

// TestLogInClasses: each request of an access log meets the class it is of, what
// no class takes is left out, and the log's own service times hold.
func TestLogInClasses(t *testing.T) {
	const log = `1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] "POST /checkout/1 HTTP/1.1" 200 5 0.040
1.1.1.1 - - [10/Oct/2000:13:55:38 +0000] "GET /a%20b/ HTTP/1.1" 200 5 0.080
1.1.1.1 - - [10/Oct/2000:13:55:39 +0000] "GET /else HTTP/1.1" 200 5 0.080
`
	cfg := configuration(t, matched)
	names := workload.NewNames()
	classify, _ := trial.Classify(cfg)
	r, err := trace.New(strings.NewReader(log), "log", trace.Options{
		Format: `nginx:$remote_addr - - [$time_local] "$request" $status $bytes_sent $request_time`, Names: names, Classify: classify,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Classed() || !r.Timed() {
		t.Errorf("classed %v, timed %v", r.Classed(), r.Timed())
	}
	result, err := trial.Trial{Config: cfg, Names: names, Loads: []trial.Load{{Source: r, Classed: r.Classed(), Timed: r.Timed()}}}.Run(nil)
	if err != nil {
		t.Fatal(err)
	}
	for class, ms := range map[string]float64{"pay": 40, "pages": 80} {
		if c := result.Report.Classes[class]; c.Offered != 1 || float64(c.MaxMs) != ms {
			t.Errorf("%s: offered %d, took %v ms, want 1 and %v", class, c.Offered, c.MaxMs, ms)
		}
	}
	if s := r.Stats(); s.Nobodys != 1 || !strings.Contains(s.String(), "1 requests of 3 are left out: no class takes them") {
		t.Errorf("stats %+v: %s", s, s)
	}
}
