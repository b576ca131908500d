package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

const ms = int64(time.Millisecond)

// twoClasses is a second of a small service: checkout is served, shed to its
// cache and refused; the analytics flood is dropped. One of each is left over.
func twoClasses() *report.Collector {
	c := report.NewCollector(report.Options{For: time.Second, Bucket: 250 * time.Millisecond, Rungs: []string{"primary", "cache"}})
	full, shed, dropped := c.Reason("queue_full"), c.Reason("shed_for_load"), c.Reason("dropped")
	cache := c.Rung("cache")
	checkout := c.Class("checkout")
	checkout.Slots(0, 4)
	checkout.Capacity(0, 40)
	acme, zeta := c.Tally("checkout", "acme"), c.Tally("checkout", "zeta")
	for i := range int64(40) {
		t, at := acme, i*25*ms
		if i%4 == 3 {
			t = zeta
		}
		t.Offered(at)
		switch {
		case i == 39: // still waiting
		case i%10 == 7:
			t.Done(report.Outcome{At: at, Latency: 40_000, Rung: cache, Reason: shed})
		case i%10 == 9:
			t.Done(report.Outcome{At: at, Latency: 20_000 + i, Rung: report.NoRung, Reason: full})
		default:
			t.Started(at+5*ms, 5*ms)
			t.Held(at+95*ms, 90*ms)
			t.Done(report.Outcome{At: at + 95*ms, Latency: 95*ms + i, Reason: reason.Served, Started: true, InDeadline: i != 20, Calls: 1})
		}
	}
	flood := c.Tally("analytics", "acme")
	for i := range int64(10) {
		flood.Offered(i * 100 * ms)
		if i == 9 {
			flood.Started(i*100*ms, 0) // still running
			continue
		}
		flood.Done(report.Outcome{At: i * 100 * ms, Latency: 15_000, Rung: report.NoRung, Reason: dropped})
	}
	return c
}

func about() report.About {
	return report.About{Mode: "virtual", Seed: 7, Meta: report.Meta{
		Version: "v0.1.0", Command: "spillway sim -c spillway.yaml --seed 7", ConfigDigest: report.Digest(nil)}}
}

func TestReportIsTheGoldenDocument(t *testing.T) {
	r := twoClasses().Report(about())
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := report.WriteJSON(&got, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", got.Bytes())

	again, err := report.Parse(got.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var second bytes.Buffer
	if err := report.WriteJSON(&second, again); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), second.Bytes()) {
		t.Error("a report that was read and written again has other bytes")
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -rewrite writes it anew):\n%s", path, got)
	}
}

func TestNothingIsEmptyNotAbsent(t *testing.T) {
	for name, r := range map[string]*report.Report{
		"collected": report.NewCollector(report.Options{}).Report(report.About{}),
		"zero":      {},
	} {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"classes":{}`, `"tenants":{}`, `"answered":{}`, `"reasons":{}`, `"refused":{}`,
			`"series":{}`, `"warnings":[]`, `"offered":0`, `"command":""`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s report lacks %s: %s", name, want, text)
			}
		}
	}
}

// Merged shards give the report of one collector, whatever order they met
// tenants, rungs and reasons in.
func TestShardsMergeToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := report.Options{Bucket: time.Millisecond, Rungs: []string{"primary", "cache", "static"}}
		whole := report.NewCollector(options)
		shards := []*report.Collector{report.NewCollector(options), report.NewCollector(report.Options{
			Bucket: time.Millisecond, Rungs: []string{"primary", "static", "cache"}})}
		shards[1].Reason("my_own")
		for i := range rapid.IntRange(0, 300).Draw(t, "requests") {
			class := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "class")
			tenant := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "tenant")
			at := int64(i) * 5 * ms
			end := rapid.SampledFrom([]string{"served", "cache", "static", "queue_full", "waiting", "running"}).Draw(t, "end")
			wait := rapid.Int64Range(0, 1e9).Draw(t, "wait")
			for _, c := range []*report.Collector{whole, shards[i%2]} {
				tally := c.Tally(class, tenant)
				tally.Offered(at)
				switch end {
				case "served":
					tally.Started(at+wait, wait)
					tally.Held(at+2*wait, wait)
					tally.Done(report.Outcome{At: at + 2*wait, Latency: 2 * wait, Reason: reason.Served, Started: true, InDeadline: true, Calls: 1})
				case "cache", "static":
					tally.Done(report.Outcome{At: at, Latency: 1000, Rung: c.Rung(end), Reason: c.Reason("shed_for_load")})
				case "queue_full":
					tally.Done(report.Outcome{At: at, Latency: 2000, Rung: report.NoRung, Reason: c.Reason(end)})
				case "running":
					tally.Started(at, 0)
				}
			}
		}
		merged := report.NewCollector(options)
		merged.Merge(shards[0])
		merged.Merge(shards[1])
		want, got := whole.Report(about()), merged.Report(about())
		if err := got.Check(); err != nil {
			t.Fatal(err)
		}
		// What a shard cannot know: the order of classes, the depth another shard saw.
		for _, r := range []*report.Report{want, got} {
			r.ClassOrder = nil
			for _, s := range r.Series {
				s.QueueDepth = nil
			}
		}
		if a, b := text(t, want), text(t, got); a != b {
			t.Fatalf("merged:\n%s\nwhole:\n%s", b, a)
		}
	})
}

func text(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Quantiles are the nearest rank of the exact sort, at most 0.1 % above it.
func TestQuantilesAgreeWithAnExactSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		latencies := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, 1e7), rapid.Int64Range(0, 3600e9)), 1, 400).Draw(t, "ns")
		c := report.NewCollector(report.Options{For: time.Hour})
		tally := c.Tally("a", "x")
		for _, l := range latencies {
			tally.Offered(0)
			tally.Started(l, l)
			tally.Done(report.Outcome{At: l, Latency: l, Reason: reason.Served, Started: true})
		}
		r := c.Report(report.About{})
		slices.Sort(latencies)
		for who, g := range map[string]*report.Group{"total": &r.Group, "class": r.Classes["a"], "tenant": r.Tenants["x"]} {
			for _, q := range []struct {
				p   float64
				got report.Number
			}{{0.5, g.P50Ms}, {0.9, g.P90Ms}, {0.99, g.P99Ms}, {0.999, g.P999Ms}, {1, g.MaxMs}, {0.5, g.QueueWaitP50Ms}, {0.99, g.QueueWaitP99Ms}} {
				exact := float64(latencies[max(0, int(math.Ceil(q.p*float64(len(latencies))))-1)]) / 1e6
				if got := float64(q.got); got < exact || got > exact*1.001 {
					t.Fatalf("%s p%g of %d is %v ms, the exact sort says %v", who, q.p*100, len(latencies), got, exact)
				}
			}
		}
	})
}

func TestCheckFindsWhatDoesNotClose(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(r *report.Report)
		want  string
	}{
		"a lost request":  {func(r *report.Report) { r.Classes["checkout"].Offered++ }, `class "checkout": offered is 41`},
		"a lost tenant":   {func(r *report.Report) { delete(r.Tenants, "zeta") }, "the sum over every tenant is"},
		"a double answer": {func(r *report.Report) { r.Classes["checkout"].Answered["cache"]++ }, `reasons sum to 39, but answered 37 + refused 3 is 40`},
		"a negative rest": {func(r *report.Report) { r.Tenants["acme"].Waiting = -1 }, "neither can be negative"},
		"no reason":       {func(r *report.Report) { r.Tenants["acme"].Reasons["none"] = 3 }, `tenant "acme": 3 requests ended without a reason`},
		"a wrong total":   {func(r *report.Report) { r.Reasons["served"]-- }, "total: offered is 50"},
	} {
		t.Run(name, func(t *testing.T) {
			r := twoClasses().Report(about())
			test.spoil(r)
			if err := r.Check(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Check says %v, want it to hold %q", err, test.want)
			}
		})
	}
}
