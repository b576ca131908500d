package report_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
)

func TestTenantsBeyondTheBoundAreOther(t *testing.T) {
	c := report.NewCollector(report.Options{MaxTenants: 10})
	for i := range 1000 {
		c.Tally("a", fmt.Sprint("tenant", i)).Offered(0)
	}
	r := c.Report(report.About{Seconds: 1})
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if len(r.Tenants) != 11 || r.Tenants[report.Other].Offered != 990 {
		t.Errorf("%d tenants, other has %+v", len(r.Tenants), r.Tenants[report.Other])
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "first 10") {
		t.Errorf("warnings are %q, want one that names the bound", r.Warnings)
	}
}

// Two tenants may have histograms: the first that reach 64 answers. A small one
// has exact quantiles, a large late one has none and a warning says so.
func TestOnlySoManyTenantsHaveHistograms(t *testing.T) {
	c := report.NewCollector(report.Options{TenantQuantiles: 2})
	for _, n := range []int{100, 64, 200, 300} {
		tally := c.Tally("a", fmt.Sprint(n))
		for i := range int64(n) {
			tally.Offered(0)
			tally.Done(report.Outcome{Latency: (i + 1) * ms, Reason: reason.Served})
		}
	}
	r := c.Report(report.About{Seconds: 1})
	for name, want := range map[string]string{"100": "50", "64": "32", "200": "100", "300": "null"} {
		got := r.Tenants[name].P50Ms
		if exact := strings.SplitN(got.String(), ".", 2)[0]; exact != want {
			t.Errorf("p50 of the tenant of %s answers is %v, want %s", name, got, want)
		}
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "first 2") {
		t.Errorf("warnings are %q", r.Warnings)
	}
}

func TestBucketsOfTime(t *testing.T) {
	for _, test := range []struct {
		options    report.Options
		end        time.Duration
		wantBucket report.Number
		wantLen    int
	}{
		{report.Options{For: 30 * time.Second}, 30*time.Second - 1, 0.2, 150},
		{report.Options{For: time.Second}, time.Second - 1, 0.005, 200},
		{report.Options{For: time.Hour}, time.Hour - 1, 20, 180},
		{report.Options{}, time.Second, 0.01, 101},
		{report.Options{}, time.Minute, 0.16, 376},
		{report.Options{Bucket: time.Second}, 400 * time.Second, 2, 201},
		{report.Options{}, 10 * 365 * 24 * time.Hour, 0.01 * (1 << 27), 235},
		{report.Options{}, -time.Second, 0.01, 1},
	} {
		c := report.NewCollector(test.options)
		tally := c.Tally("a", "x")
		tally.Offered(0)
		tally.Offered(int64(test.end))
		s := c.Report(report.About{Seconds: 1}).Series["a"]
		if s.BucketS != test.wantBucket || len(s.TS) != test.wantLen {
			t.Errorf("%+v until %v: %d buckets of %v s, want %d of %v", test.options, test.end, len(s.TS), s.BucketS, test.wantLen, test.wantBucket)
		}
		var sum int64
		for _, n := range s.Offered {
			sum += n
		}
		if sum != 2 {
			t.Errorf("%+v: %d of 2 requests are in the course", test.options, sum)
		}
	}
}

func TestUtilisationIsSlotTimeHeldInTheWindow(t *testing.T) {
	c := report.NewCollector(report.Options{For: 10 * time.Second})
	cl := c.Class("a")
	cl.Slots(0, 2)
	cl.Slots(5e9, 6)                      // 10 + 30 slot seconds
	c.Tally("a", "x").Held(4e9, 4e9)      // 4
	c.Tally("a", "y").Held(15e9, 12e9)    // 7 of 12 inside the window
	c.Tally("a", "y").Held(30e9, 2e9)     // none
	c.Tally("free", "x").Held(1e9, 900e6) // slots unknown: no share of anything
	r := c.Report(report.About{})
	for name, got := range map[string]report.Number{
		"0.275": r.Classes["a"].Utilisation, "0.1": r.Tenants["x"].Utilisation, "0.175": r.Tenants["y"].Utilisation, "null": r.Classes["free"].Utilisation,
	} {
		if got.String() != name {
			t.Errorf("utilisation is %v, want %s", got, name)
		}
	}
	if r.Utilisation.String() != "0.275" {
		t.Errorf("utilisation of all is %v", r.Utilisation)
	}
}

func TestNumbersReadTheSameEverywhere(t *testing.T) {
	for n, want := range map[report.Number][2]string{ // JSON, three digits
		0: {"0", "0"}, 1: {"1", "1.00"}, 0.5: {"0.5", "0.500"}, 9.996: {"9.996", "10.0"}, 12.345: {"12.345", "12.3"},
		99.96: {"99.96", "100"}, 999.6: {"999.6", "1,000"}, 1234: {"1234", "1,230"}, 1234567.891: {"1234567.891", "1,230,000"},
		0.0123456789: {"0.012346", "0.0123"}, 0.000004: {"0.000004", "0.000004"}, -12.34: {"-12.34", "-12.3"}, 1e15: {"1000000000000000", "1,000,000,000,000,000"},
		-0.0000001: {"0", "0"}, report.Number(math.Inf(1)): {"null", "-"},
	} {
		if got := n.String(); got != want[0] {
			t.Errorf("JSON of %v is %s, want %s", float64(n), got, want[0])
		}
		if got := report.Format(n); got != want[1] {
			t.Errorf("Format(%v) is %s, want %s", float64(n), got, want[1])
		}
	}
	for got, want := range map[string]string{
		report.FormatCount(-1234567): "-1,234,567", report.FormatCount(7): "7", report.FormatMs(1500): "1.50 s", report.FormatMs(999): "999 ms",
		report.FormatMs(report.None()): "-", report.FormatPercent(0.5019): "50.2 %", report.FormatRate(398.2): "398/s", report.PerSecond(1, 0).String(): "null",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCompareJudgesByItsTolerances(t *testing.T) {
	predicted, measured := twoClasses().Report(about()), twoClasses().Report(about())
	checkout := measured.Classes["checkout"]
	checkout.GoodputPerS *= 0.96 // within 5 %
	checkout.P99Ms *= 1.25       // not within 20 %
	checkout.Refused["queue_full"]++
	verdict := map[string]bool{}
	for _, d := range report.Compare(measured, predicted) {
		verdict[d.Class+" "+d.Figure] = d.Within
	}
	for what, want := range map[string]bool{
		"checkout goodput_per_s": true, "checkout p99_ms": false, "checkout refused_share": true,
		"analytics goodput_per_s": true, "analytics p99_ms": true, // 0 and 0; nobody and nobody
	} {
		if got, ok := verdict[what]; !ok || got != want {
			t.Errorf("%s within tolerance: %v, want %v", what, got, want)
		}
	}
	delete(predicted.Classes, "checkout")
	if d := report.Compare(measured, predicted)[0]; d.Within {
		t.Errorf("a class that was not predicted is within tolerance: %+v", d)
	}
}

func TestRiverStacksToWhatWasOffered(t *testing.T) {
	r := twoClasses().Report(about())
	river := r.Series.Total().River(r.Rungs)
	var names []string
	for _, b := range river.Bands {
		names = append(names, b.Name)
	}
	if got, want := strings.Join(names, ", "), "served in full, cache, waiting, refused: ours"; got != want {
		t.Errorf("bands from the bottom are %s, want %s", got, want)
	}
	var stacked, offered float64
	for i := range 4 { // the first second; what follows is the drain
		offered += float64(r.Series["checkout"].Offered[i] + r.Series["analytics"].Offered[i])
		for _, b := range river.Bands {
			stacked += b.PerS[i] * river.BucketS
		}
	}
	if stacked != offered {
		t.Errorf("the stack holds %v requests, offered were %v", stacked, offered)
	}
}

func TestFindingsSayWhatHappened(t *testing.T) {
	got := twoClasses().Report(about()).Finding()
	for _, want := range []string{"checkout was offered 40.0/s against a capacity of 40.0/s: 30.0/s were served in full and on time (p99 95.0 ms)",
		"10.0 % got a cheaper rung", "7.5 % were refused by us (queue_full)",
		"analytics was offered 10.0/s: none were served in full, 90.0 % were refused by us (dropped), 10.0 % had no answer at the end."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	document, err := os.ReadFile("testdata/report.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(document)
	for _, s := range []string{`{}`, `null`, `{"classes":{"a":null}}`, `{"series":{"a":{"t_s":[0,1],"bucket_s":0}}}`, `{"series":{"a":null}}`,
		`{"offered":1,"reasons":{"served":1},"p50_ms":null,"classes":{"a":{"offered":1}}}`, `{"p50_ms":"x"}`, `{"offered":1e99}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		r, err := report.Parse(document)
		if err != nil {
			return
		}
		// Whatever was read can be checked, put into words and drawn.
		_ = r.Check()
		_ = r.Finding()
		_ = r.Series.Total().River(r.Rungs)
		_ = report.Compare(r, r)
		var b strings.Builder
		if err := report.WriteJSON(&b, r); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRecordingAllocatesNothing(t *testing.T) {
	c := report.NewCollector(report.Options{For: time.Minute})
	tally, full := c.Tally("a", "x"), c.Reason("queue_full")
	i := int64(0)
	one := func() {
		i++
		tally.Offered(59e9 + i)
		tally.Started(59e9+i, i*1000)
		tally.Held(59e9+i, i)
		tally.Done(report.Outcome{At: 59e9 + i, Latency: i * 1000, Reason: reason.Served, Started: true, InDeadline: true})
		tally.Offered(59e9 + i)
		tally.Done(report.Outcome{At: 59e9 + i, Latency: i, Rung: report.NoRung, Reason: full})
	}
	for range 100 { // past the first bucket, histogram and sampler
		one()
	}
	if n := testing.AllocsPerRun(1000, one); n != 0 {
		t.Errorf("%v allocations a request, want 0", n)
	}
}

func TestQueueWaitOfABucketIsKnownTo3Percent(t *testing.T) {
	for wait := int64(2000); wait < 3600e9; wait += wait/7 + 1 {
		c := report.NewCollector(report.Options{Bucket: time.Second})
		tally := c.Tally("a", "x")
		tally.Offered(0)
		tally.Started(0, wait)
		got, want := float64(c.Report(report.About{Seconds: 1}).Series["a"].QueueWaitP99Ms[0]), float64(wait)/1e6
		if math.Abs(got/want-1) > 0.032 {
			t.Fatalf("a wait of %v ms is shown as %v", want, got)
		}
	}
}

func TestRungsAndReasonsBeyondTheBoundStillClose(t *testing.T) {
	c := report.NewCollector(report.Options{})
	tally := c.Tally("a", "x")
	for i := range 100 {
		tally.Offered(0)
		tally.Done(report.Outcome{Rung: c.Rung(fmt.Sprint("rung", i)), Reason: reason.ShedForLoad})
		tally.Offered(0)
		tally.Done(report.Outcome{Rung: report.NoRung, Reason: c.Reason(fmt.Sprint("reason", i))})
	}
	r := c.Report(report.About{Seconds: 1})
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 2 || r.Offered != 200 || r.Answered["rung6"] != 94 {
		t.Errorf("offered %d, rung6 %d, warnings %q", r.Offered, r.Answered["rung6"], r.Warnings)
	}
}
