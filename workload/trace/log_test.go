package trace_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/record"
	"github.com/spillway-dev/spillway/workload/trace"
)

func line(second int, path, more string) string {
	return fmt.Sprintf("10.0.0.%d - - [10/Oct/2000:13:55:%02d +0000] \"GET %s HTTP/1.1\" 200 %d%s\n", 1+second%3, second, path, 100*second, more)
}

// TestLogStampsAreSpread: what a log heaps up on full seconds comes somewhere
// within them, the same place for the same seed.
func TestLogStampsAreSpread(t *testing.T) {
	var text string
	for range 100 {
		text += line(5, "/", "")
	}
	arrivals := func(seed uint64, mapping string) []workload.Arrival {
		_, all := read(t, text, mapping, trace.Options{Seed: seed})
		return all
	}
	a, again, other := arrivals(1, ""), arrivals(1, ""), arrivals(2, "")
	if len(a) != 100 || a[99].At < 800*time.Millisecond || a[99].At >= time.Second || a[50].At < 200*time.Millisecond || a[50].At > 800*time.Millisecond {
		t.Errorf("%d requests of one second, the last after %v", len(a), a[99].At)
	}
	if fmt.Sprint(a) != fmt.Sprint(again) || fmt.Sprint(a) == fmt.Sprint(other) {
		t.Error("the seed does not decide where in its second a request comes")
	}
	if one := arrivals(1, "spread=1ns"); one[99].At != 0 {
		t.Errorf("spread by a nanosecond, the last comes after %v", one[99].At)
	}
}

// TestLogColumns: a mapping picks what of a log is tenant, cost and the like.
func TestLogColumns(t *testing.T) {
	text := line(1, "/a", ` 0.250 acme`) + line(2, "/b", ` 0.500 beta`) + line(3, "/c", ` - -`)
	const format = `nginx:$remote_addr - - [$time_local] "$request" $status $body_bytes_sent $request_time $http_x_tenant`
	r, all := read(t, text, "tenant=http_x_tenant,cost=bytes,session=client,spread=1ns,only=status:200", trace.Options{Format: format})
	if len(all) != 3 || !r.Timed() || !r.IsLog() || r.Classed() {
		t.Fatalf("%d requests, timed %v, log %v, classed %v", len(all), r.Timed(), r.IsLog(), r.Classed())
	}
	tenant := func(i int) string { return r.Names().Tenants.String(all[i].Tenant) }
	if tenant(0) != "acme" || tenant(1) != "beta" || tenant(2) != "" || all[1].Cost != 200 || all[0].Session == 0 {
		t.Errorf("read %+v", all)
	}
	// The end less the time it took; what is not known is lent from the others.
	if all[1].At != 750*time.Millisecond || all[1].Service != 500*time.Millisecond || all[2].Service == 0 {
		t.Errorf("read %+v", all)
	}
	// Nothing in no time is known, and not the same as not known.
	_, quick := read(t, line(1, "/", " 0.000 -")+line(2, "/", " 0.900 -"), "spread=1ns", trace.Options{Format: format})
	if quick[0].Service > time.Microsecond {
		t.Errorf("a request of 0.000 s takes %v", quick[0].Service)
	}
}

// TestLogQuestions: requests of a log ask the same if an answer to one is one to the
// other, and nothing that is known if it could not be given again.
func TestLogQuestions(t *testing.T) {
	const first = "GET /a?q=1"
	for request, same := range map[string]bool{
		first: true, "HEAD /a?q=1": true, "GET http://h/a?q=1": false, "GET /a?q=2": false, "GET /a": false, "GET /aq=1": false, "POST /a?q=1": false,
	} {
		text := strings.Replace(line(1, "/", "")+line(2, "/", ""), "GET /", first, 1)
		i := strings.LastIndex(text, "GET /")
		_, all := read(t, text[:i]+request+text[i+len("GET /"):], "", trace.Options{})
		if len(all) != 2 || all[0].Key == 0 || all[0].Key == all[1].Key != same || strings.HasPrefix(request, "POST") != (all[1].Key == 0) {
			t.Errorf("%s after %s: keys %x", request, first, all)
		}
	}
}

// TestLogDamage: damaged lines are counted and named, messages are not damage,
// and lines out of order are put into it.
func TestLogDamage(t *testing.T) {
	text := line(1, "/", "") + "garbage\n" + line(9, "/", "") + strings.Repeat("x", 2<<20) + "\n" + line(4, "/", "") +
		`10.0.0.1 - - [10/Oct/2000:13:55:36 +0000] "-" 408 0` + "\n" + `10.0.0.1 - - [99/Oct/2000:13:55:36 +0000] "GET / HTTP/1.1" 200 0` + "\n"
	r, all := read(t, text, "spread=1ns", trace.Options{})
	s := r.Stats()
	if len(all) != 3 || s.Rows != 3 || s.Other != 1 || s.Damaged != 3 || all[1].At != 3*time.Second || all[2].At != 8*time.Second {
		t.Errorf("%d requests, %+v", len(all), s)
	}
	for _, part := range []string{"3 damaged lines of 6: line 2: client is not followed by", "line 4: the line is longer than 1048576 bytes", "line 7: time: \"99/Oct/2000:13:55:36 +0000\" is no time"} {
		if !strings.Contains(s.String(), part) {
			t.Errorf("it says %q, want %q", s, part)
		}
	}
}

// TestLogClasses: what no class takes is left out and counted.
func TestLogClasses(t *testing.T) {
	classify := func(a trace.Asked) string {
		return map[string]string{"/a": "first", "/b": "second"}[a.Path]
	}
	r, all := read(t, line(1, "/a", "")+line(2, "/b?x", "")+line(3, "/c", ""), "", trace.Options{Classify: classify})
	if len(all) != 2 || r.Names().Classes.String(all[1].Class) != "second" || r.Stats().Nobodys != 1 || !r.Classed() {
		t.Errorf("%+v, %+v", all, r.Stats())
	}
	r = must(trace.New(strings.NewReader(line(3, "/c", "")), "x.log", trace.Options{Classify: classify}))
	var a workload.Arrival
	if r.Next(&a) || r.Err() == nil || !strings.Contains(r.Err().Error(), "no class of the configuration takes any of its 1 requests") {
		t.Errorf("a log of nobody's: %v", r.Err())
	}
}

// TestUnknownFiles: what is nothing that is known says what to do.
func TestUnknownFiles(t *testing.T) {
	for _, c := range []struct{ text, format, says string }{
		{"hello world\n", "", "no access log that is known (its first line: \"hello world\"); say what its lines look like with --format nginx:'...'"},
		{line(1, "/", ""), "iis", `format "iis": write auto`},
		{line(1, "/", ""), "mapping", "say which column means what"},
		{"a,b\n1,2\n", "", "say which column means what: at=a"},
	} {
		if _, err := trace.New(strings.NewReader(c.text), "x", trace.Options{Format: c.format}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q as %s: %v, want %s", c.text, c.format, err, c.says)
		}
	}
}

// TestRecordings: classes by name, tenants as hashes or by their names, sessions,
// costs and service times as they were, in order of arrival.
func TestRecordings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traffic.rec")
	rec := must(record.New(record.Options{
		Path: path, Classes: []string{"checkout", "other"}, Outcomes: []string{"none", "served", "queue_full"}, Config: "c0ffee", Known: []string{"acme"},
	}))
	for _, q := range []record.Request{
		{Arrival: 30 * time.Millisecond, Class: 1, Outcome: 2, Tenant: rec.Hash("gamma")},
		{Arrival: 20 * time.Millisecond, Class: 0, Outcome: 1, Tenant: rec.Hash("acme"), Session: 7, Cost: 9, Bytes: 50, Importance: 1, Allowed: time.Second, Service: 5 * time.Millisecond},
		{Arrival: 40 * time.Millisecond, Class: 1, Outcome: 1, Service: 6 * time.Millisecond},
		{Arrival: 50 * time.Millisecond, Class: 0, Outcome: 2},
	} {
		rec.Add(&q)
	}
	rec.Close()
	r := must(trace.Open(path, trace.Options{Tenants: []string{"acme"}, Config: "c0ffee"}))
	defer r.Close()
	all := drain(t, r)
	var got []string
	for _, a := range all {
		got = append(got, fmt.Sprintf("%v %s tenant %.1s session %d cost %d bytes %d importance %d allowed %v service %v",
			a.At, r.Names().Classes.String(a.Class), r.Names().Tenants.String(a.Tenant), a.Session, a.Cost, a.Bytes, a.Importance, a.Deadline, a.Service))
	}
	want := []string{
		"0s checkout tenant a session 7 cost 9 bytes 50 importance 1 allowed 1s service 5ms",
		"10ms other tenant t session 0 cost 1 bytes 0 importance 0 allowed 0s service 6ms", // refused: another's service time
		"20ms other tenant  session 0 cost 1 bytes 0 importance 0 allowed 0s service 6ms",
		"30ms checkout tenant  session 0 cost 1 bytes 0 importance 0 allowed 0s service 5ms",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("read\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !r.Timed() || !r.Classed() || r.IsLog() || !strings.Contains(r.About(), "recording of spillway from 20") || !strings.Contains(r.About(), ", under these rules; 1 tenants are named") {
		t.Errorf("taken for %s", r.About())
	}
	// Twice as fast, and twice as many, under another configuration.
	fast := must(trace.Open(path, trace.Options{Speed: 2, Scale: 2, Config: "cafe"}))
	if !strings.Contains(fast.About(), "under other rules than these") {
		t.Errorf("taken for %s", fast.About())
	}
	defer fast.Close()
	if all := drain(t, fast); len(all) != 8 || all[7].At != 15*time.Millisecond {
		t.Errorf("at twice the speed and number: %d, the last after %v", len(all), all[len(all)-1].At)
	}
}
