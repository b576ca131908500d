package trial_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/trace"
)

const weighed = `version: 1
upstreams: { app: { url: "http://127.0.0.1:1", slots: 6, service: 100ms } }
classes:
  long:    { match: { path: /search, expr: "size(query.q) >= 4" }, ladder: [cache: { ttl: 60s }], gap: { expr: "size(query.q) >= 8 ? 0.1 : 0.2" } }
  table:   { match: { path: "/t/*" }, ladder: [cache: { ttl: 60s }], gap: { table: { key: "path:2", values: { a: 0.5, "*": 0.75 } } } }
  headers: { match: { path: /h, expr: "headers['x-kind'] != 'batch'" }, ladder: [cache: { ttl: 60s }], gap: { table: { key: "header:X-Kind", values: { a: 0.5 } } } }
  learned: { match: { path: /l }, ladder: [cache: { ttl: 60s }], gap: { learned: { compare: exact } } }
  rest:    {}
`

// A log's requests have the gap that the gateway would have found, as far as a log
// says what it asks for.
func TestRequestsOfALogAreWeighed(t *testing.T) {
	const log = `1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] "GET /search?q=lamps HTTP/1.1" 200 5 0.040
1.1.1.1 - - [10/Oct/2000:13:55:37 +0000] "GET /search?q=bright%20lamps HTTP/1.1" 200 5 0.080
1.1.1.1 - - [10/Oct/2000:13:55:38 +0000] "GET /search?q=la HTTP/1.1" 200 5 0.080
1.1.1.1 - - [10/Oct/2000:13:55:39 +0000] "GET /x/../t/a HTTP/1.1" 200 5 0.080
1.1.1.1 - - [10/Oct/2000:13:55:40 +0000] "GET /t/b HTTP/1.1" 200 5 0.080
1.1.1.1 - - [10/Oct/2000:13:55:41 +0000] "GET /h HTTP/1.1" 200 5 0.080
1.1.1.1 - - [10/Oct/2000:13:55:42 +0000] "GET /l HTTP/1.1" 200 5 0.080
`
	cfg := configuration(t, weighed)
	names := workload.NewNames()
	classify, blindClasses := trial.Classify(cfg)
	weigh, blind, err := trial.Weigh(cfg, "rest")
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.New(strings.NewReader(log), "log", trace.Options{
		Format: `nginx:$remote_addr - - [$time_local] "$request" $status $bytes_sent $request_time`, Names: names, Classify: classify, Weigh: weigh,
	})
	if err != nil {
		t.Fatal(err)
	}
	type found struct {
		class string
		gap   int32 // in millionths; a whole one is as good as no answer
	}
	var got []found
	for a := (workload.Arrival{}); r.Next(&a); {
		got = append(got, found{names.Classes.String(a.Class), a.Gap})
	}
	want := []found{
		{"long", 200_000}, {"long", 100_000}, {"rest", 0}, {"table", 500_000}, {"table", 750_000}, {"headers", 1_000_000}, {"learned", 1_000_000},
	}
	if r.Err() != nil || !slices.Equal(got, want) {
		t.Errorf("%v (%v)\nwant %v", got, r.Err(), want)
	}
	if !slices.Equal(blind, []string{"headers"}) || !slices.Equal(blindClasses, []string{"headers"}) {
		t.Errorf("classes that ask for headers: %q match, %q weigh; want headers", blindClasses, blind)
	}
	if alike := trial.Alike(cfg); !slices.Equal(alike, []string{"long", "table", "headers"}) {
		t.Errorf("classes whose gap depends on the request: %q", alike)
	}
	if weigh, _, _ := trial.Weigh(configuration(t, matched), "pay"); weigh != nil {
		t.Error("a configuration without gaps weighs")
	}
}
