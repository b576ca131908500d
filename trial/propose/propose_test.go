package propose_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/test/need"
	"github.com/spillway-dev/spillway/trial/propose"
	"github.com/spillway-dev/spillway/workload/record"
)

var update = flag.Bool("update", false, "write what is proposed anew; review the diff")

const timedFormat = `nginx:$remote_addr - - [$time_local] $msec "$request" $status $body_bytes_sent $request_time`

// log writes an access log of 100 s: 10 checkouts a second of 200 ms, 50 images
// a second of 4 ms, and now and then something else.
func log(t *testing.T, timed bool) string {
	t.Helper()
	var b strings.Builder
	line := func(at float64, client int, path string, took float64) {
		end := 1_500_000_000 + at + took
		stamp := time.Unix(int64(end), 0).UTC().Format("02/Jan/2006:15:04:05 -0700")
		if timed {
			fmt.Fprintf(&b, "10.0.0.%d - - [%s] %.3f \"GET %s HTTP/1.1\" 200 5 %.3f\n", client, stamp, end, path, took)
		} else {
			fmt.Fprintf(&b, "10.0.0.%d - - [%s] \"GET %s HTTP/1.1\" 200 5\n", client, stamp, path)
		}
	}
	for tick := range 5000 {
		at := float64(tick) / 50
		line(at, tick%3, fmt.Sprintf("/image/%d/x.png?v=%d", tick, tick), 0.004)
		if tick%5 == 0 {
			line(at, 9, "/checkout/pay", 0.2)
		}
		if tick%100 == 0 {
			line(at, 7, fmt.Sprintf("/once-%d", tick), 0.01)
		}
	}
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// right renders a proposal, which must be a file that passes check.
func right(t *testing.T, p *propose.Proposal, err error) (text string, cfg *config.Config) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	data, err := p.YAML()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err = config.Parse("proposed.yaml", data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return string(data), cfg
}

func class(cfg *config.Config, name string) config.Class {
	for _, c := range cfg.Classes {
		if c.Name == name {
			return c
		}
	}
	return config.Class{}
}

// TestFromLog: the paths that matter become classes, in the order of what they
// ask of the service, with Little's slots.
func TestFromLog(t *testing.T) {
	p, err := propose.FromTrace(log(t, true), propose.Options{Format: timedFormat, Upstream: "http://app:8080"})
	text, cfg := right(t, p, err)
	if len(cfg.Classes) != 3 || cfg.Classes[0].Name != "checkout" || cfg.Classes[1].Name != "image" || cfg.Classes[2].Name != "rest" {
		t.Fatalf("classes of\n%s", text)
	}
	// 10/s x 200 ms are 2 slots, and a quarter; the images' 0.2 are rounded up to
	// the least.
	if got := class(cfg, "checkout").Slots.Fixed; got != 3 {
		t.Errorf("checkout is to have %d slots", got)
	}
	if c := class(cfg, "image"); c.Slots.Fixed != 2 || c.Match.Path[0] != "/image/*" || c.Expect.Rate != 50 || c.Deadline.D() != 100*time.Millisecond {
		t.Errorf("image is %+v", c)
	}
	if d := class(cfg, "checkout").Deadline.D(); d != time.Second {
		t.Errorf("checkout's deadline is %v, p99 is 200 ms", d)
	}
	if cfg.Upstreams[0].URL.Value() != "http://app:8080" || len(cfg.Upstreams[0].Service.Mix) != 3 {
		t.Errorf("upstream %+v", cfg.Upstreams[0])
	}
	golden(t, "log.yaml", text)
}

// TestFromLogWithoutTimes: what it cannot know it does not make up.
func TestFromLogWithoutTimes(t *testing.T) {
	p, err := propose.FromTrace(log(t, false), propose.Options{})
	text, cfg := right(t, p, err)
	if cfg.Classes[0].Name != "image" || class(cfg, "checkout").Slots.Fixed != 20 || class(cfg, "checkout").Deadline != 0 || !cfg.Upstreams[0].Service.IsZero() || cfg.Upstreams[0].Slots != 0 {
		t.Errorf("proposed\n%s", text)
	}
	for _, words := range []string{"nothing tells how many slots", "$request_time", "Not known; the default.", "Where the service is: put its address here."} {
		if !strings.Contains(strings.ReplaceAll(text, "\n# ", " "), words) {
			t.Errorf("it does not say %q:\n%s", words, text)
		}
	}
}

// TestFromRecording: classes are those of the gateway.
func TestFromRecording(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traffic.rec")
	rec, err := record.New(record.Options{Path: path, Classes: []string{"Pay-now", "all"}, Outcomes: []string{"none", "served", "queue_full"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		q := record.Request{Arrival: time.Duration(i) * 10 * time.Millisecond, Outcome: 1, Service: 80 * time.Millisecond}
		if i%3 == 0 {
			q = record.Request{Arrival: q.Arrival, Outcome: 2} // refused: it would have taken as long
		}
		rec.Add(&q)
	}
	rec.Close()
	p, err := propose.FromTrace(path, propose.Options{})
	text, cfg := right(t, p, err)
	// 100/s x 80 ms: 8 slots, and a quarter.
	if c := class(cfg, "pay_now"); c.Slots.Fixed < 8 || c.Slots.Fixed > 10 || !strings.Contains(text, "is not in a recording") {
		t.Errorf("proposed\n%s", text)
	}
}

func TestTooLittle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, []byte(`10.0.0.1 - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.1" 200 5`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := propose.FromTrace(path, propose.Options{}); err == nil || !strings.Contains(err.Error(), "one moment of traffic is too little") {
		t.Errorf("one line: %v", err)
	}
	if _, err := propose.FromTrace(path, propose.Options{Mapping: "x"}); err == nil || !strings.Contains(err.Error(), "KEY=VALUE") {
		t.Errorf("a mapping that is none: %v", err)
	}
}

// pools is /debug/pools of a gateway with one class.
func pools(t *testing.T, offered int, more string) *propose.Pools {
	t.Helper()
	p, err := propose.ParsePools(fmt.Appendf(nil, `{"pools":[{"resource":"app","class":"all","slots":{"guaranteed":20,"used":9},
		"measured":{"holding_ms":50,"service_ms":60},"offered":%d,"answered":{"served":%d}}%s]}`, offered, offered, more))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFromLive: what was asked of a class while it was watched, times how long it
// holds a slot.
func TestFromLive(t *testing.T) {
	p, err := propose.FromLive(pools(t, 1000, ""), pools(t, 3000, ""), 10*time.Second, nil, propose.Options{})
	text, cfg := right(t, p, err)
	if c := class(cfg, "all"); c.Slots.Fixed != 13 || c.Expect.Rate != 200 { // 200/s x 50 ms = 10, and a quarter
		t.Errorf("proposed\n%s", text)
	}
	if !strings.Contains(text, "200/s x 50ms is 10 slots in use on average (Little's law)") {
		t.Errorf("it does not say why:\n%s", text)
	}
	p, err = propose.FromLive(pools(t, 1000, ""), pools(t, 1000, ""), 10*time.Second, nil, propose.Options{})
	if text, cfg = right(t, p, err); class(cfg, "all").Slots.Fixed != 20 {
		t.Errorf("of an idle gateway\n%s", text)
	}
	two := `,{"resource":"app","class":"other","slots":{"guaranteed":1},"offered":0}`
	if _, err := propose.FromLive(pools(t, 1, two), pools(t, 2, two), time.Second, nil, propose.Options{}); err == nil || !strings.Contains(err.Error(), "add its file with -c FILE") {
		t.Errorf("two classes and no file: %v", err)
	}
	file, err := config.Parse("two.yaml", []byte("upstreams: { app: { url: \"http://a:1\", slots: 3 } }\nclasses:\n  other: { match: { path: /b }, slots: 7 }\n  all: { match: { path: \"/*\" }, slots: 20, when_full: drop }\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err = propose.FromLive(pools(t, 1000, two), pools(t, 3000, two), 10*time.Second, file, propose.Options{})
	text, cfg = right(t, p, err)
	if class(cfg, "all").Slots.Fixed != 13 || class(cfg, "all").WhenFull.Policy != config.FullDrop || class(cfg, "other").Slots.Fixed != 1 || cfg.Upstreams[0].Slots != 14 || file.Classes[1].Slots.Fixed != 20 {
		t.Errorf("proposed from a file\n%s", text)
	}
	for _, data := range []string{`{"pools":[]}`, `x`} {
		if _, err := propose.ParsePools([]byte(data)); err == nil {
			t.Errorf("%s is taken for pools", data)
		}
	}
}

// TestRealLogs: of every real log comes a file that passes check.
func TestRealLogs(t *testing.T) {
	for _, name := range []string{"apache_combined.log.gz", "shop_nginx_2019.log", "iis_w3c.log", "haproxy_http.log", "caddy_json.log", "apache_common_small.log"} {
		p, err := propose.FromTrace(need.Data(t, "access-logs/"+name), propose.Options{})
		right(t, p, err)
	}
}

// golden compares with a file in testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	_, text, _ = strings.Cut(text, "\nversion: 1\n") // before it is the log's path, which is the test's own
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(want, []byte(text)) {
		t.Errorf("proposed\n%s\nwhich is not %s (%v)", text, path, err)
	}
}
