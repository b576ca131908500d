package observe

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/spillway-dev/spillway/observe/pressure"
	"github.com/spillway-dev/spillway/observe/quality"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/gap"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/scale"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/tally"
)

var update = flag.Bool("update", false, "write docs/reference/metrics.md anew")

//go:generate go test . -run ^TestReferencePageIsCurrent$ -count=1 -args -update

func TestReferencePageIsCurrent(t *testing.T) {
	const page = "../docs/reference/metrics.md"
	if *update {
		if err := os.WriteFile(page, []byte(Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != Reference() {
		t.Errorf("%s is not what the table says; run go generate ./observe (%v)", page, err)
	}
}

// source is a resource that the test makes up.
type source struct {
	states  []boundary.ClassState
	tenants []boundary.TenantState
}

func (s *source) States() []boundary.ClassState { return s.states }
func (s *source) Bugs() int64                   { return 3 }
func (s *source) Tenants(int) ([]boundary.TenantState, tally.Tally) {
	return s.tenants, tally.Tally{}
}

func answers(offered int64, by map[reason.Reason]int64) tally.Tally {
	t := tally.Tally{Offered: offered}
	for why, n := range by {
		t.Answered[why] = n
	}
	return t
}

func TestEveryMetricIsInTheTableAndHasItsForm(t *testing.T) {
	m := New(Options{Version: "v1"})
	m.Watch("app", &source{states: []boundary.ClassState{{
		Name: "checkout", Slots: 4, Used: 5, Bound: 8, BoundFrom: "budget",
		Tally: answers(10, map[reason.Reason]int64{reason.Served: 6, reason.Failed: 2, reason.CallerGone: 1, reason.QueueFull: 1}),
		Mode:  boundary.Mode{Kind: boundary.Part, Share: 250_000},
		Shed:  &shed.State{Share: 250_000},
		Shadow: &boundary.ShadowState{
			Tally: answers(10, map[reason.Reason]int64{reason.Served: 4, reason.QueueFull: 6}), Used: 4,
		},
	}}})
	m.Reloads.Begin(time.Unix(1, 0), "0123456789ab")
	m.Callers.Show(callersFake{})
	m.Overrides = func() []Overridden { return []Overridden{{"checkout", time.Minute}} }
	m.Pressure = func() []pressure.Signal {
		return []pressure.Signal{{Name: "memory", Level: 1.25, Known: true}, {Name: "cpu"}}
	}
	m.Edge = func() Edge { return Edge{Connections: 3, Refused: [2]int64{1, 2}, Limited: [4]int64{1, 2, 3, 4}} }
	m.Copies = func() []Copy {
		one := Copy{Resource: "app", Name: "10.0.0.1:80"}
		return []Copy{one, one, {Resource: "app", Name: "10.0.0.2:80"}} // twice by the same name must not break a scrape
	}
	m.Calls = func() []Call {
		return []Call{{Resource: "app", Class: "checkout"}, {Resource: "app", Class: "free", RetriesFree: true, HedgesFree: true, State: call.State{Breaker: call.Open}}}
	}
	m.Gaps = func() []Gap {
		known := gap.Estimate{Bucket: "\xff", Samples: 40, Mean: 0.1, Upper: 0.2, Known: true}
		return []Gap{{Resource: "app", Class: "checkout", Estimates: []gap.Estimate{known, known, {Bucket: "made up"}}}}
	}
	m.Quality = func() []Quality {
		return []Quality{{Resource: "app", Class: "checkout", Figures: []quality.Figure{{Rung: "cache", Answers: 5, Judged: 2, Mean: 0.5}, {Rung: "primary", Answers: 1}}}}
	}
	m.Scales = func() []Scale {
		return []Scale{{"app", scale.Reading{Demand: 3, Desired: 4, Ratio: 1, Measured: true}}}
	}
	m.Jobs = func() []Jobs { return []Jobs{{Class: "checkout", Known: true}} }
	m.Quotas = func() ([]Quota, Reservations) {
		return []Quota{{Upstream: "app", Class: "checkout", Budgets: []Budget{{Name: "provider/requests/second", Most: 2, Dry: time.Second}}}}, Reservations{Lost: 1}
	}
	m.Class("app", "checkout").Passed.Add(1)
	m.Class("app", "checkout").Wait.Observe(3 * time.Millisecond)
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "spillway_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]Definition)
	for _, d := range Table() {
		known[d.Name] = d
	}
	for _, f := range families {
		d, ok := known[f.GetName()]
		if strings.HasPrefix(f.GetName(), "spillway_") && (!ok || !strings.EqualFold(f.GetType().String(), d.Kind)) {
			t.Errorf("%s is a %v, the table has %+v", f.GetName(), f.GetType(), d)
		}
		delete(known, f.GetName())
	}
	for name := range known {
		t.Errorf("%s is in the table and not in a scrape", name)
	}
	const want = `# HELP spillway_answered_total Requests answered, by the reason and the rung of the answer. A caller that hung up got none: rung none.
# TYPE spillway_answered_total counter
spillway_answered_total{class="checkout",reason="caller_gone",resource="app",rung="none"} 1
spillway_answered_total{class="checkout",reason="failed",resource="app",rung="primary"} 1
spillway_answered_total{class="checkout",reason="failed",resource="app",rung="refusal"} 1
spillway_answered_total{class="checkout",reason="queue_full",resource="app",rung="refusal"} 1
spillway_answered_total{class="checkout",reason="served",resource="app",rung="primary"} 6
`
	if err := testutil.GatherAndCompare(m.registry, strings.NewReader(want), "spillway_answered_total"); err != nil {
		t.Error(err)
	}
	const calls = `# HELP spillway_call_breaker 1 for the state that the breaker is in, 0 for the others. One that is not configured is closed.
# TYPE spillway_call_breaker gauge
spillway_call_breaker{class="checkout",resource="app",state="closed"} 1
spillway_call_breaker{class="checkout",resource="app",state="half_open"} 0
spillway_call_breaker{class="checkout",resource="app",state="open"} 0
spillway_call_breaker{class="checkout",resource="app",state="recovering"} 0
spillway_call_breaker{class="free",resource="app",state="closed"} 0
spillway_call_breaker{class="free",resource="app",state="half_open"} 0
spillway_call_breaker{class="free",resource="app",state="open"} 1
spillway_call_breaker{class="free",resource="app",state="recovering"} 0
# HELP spillway_call_budget_left How many retries and hedges could be sent now. Left out where budget is off.
# TYPE spillway_call_budget_left gauge
spillway_call_budget_left{class="checkout",kind="hedge",resource="app"} 0
spillway_call_budget_left{class="checkout",kind="retry",resource="app"} 0
`
	if err := testutil.GatherAndCompare(m.registry, strings.NewReader(calls), "spillway_call_breaker", "spillway_call_budget_left"); err != nil {
		t.Error(err)
	}
	const shadow = `# HELP spillway_enforced_ratio Share of sessions whose decisions are carried out, by the class's mode.
# TYPE spillway_enforced_ratio gauge
spillway_enforced_ratio{class="checkout",mode="percent",resource="app"} 0.25
# HELP spillway_shadow_answered_total What the policy decided of them; to be held against spillway_answered_total, which is what happened.
# TYPE spillway_shadow_answered_total counter
spillway_shadow_answered_total{class="checkout",reason="queue_full",resource="app"} 6
spillway_shadow_answered_total{class="checkout",reason="served",resource="app"} 4
`
	if err := testutil.GatherAndCompare(m.registry, strings.NewReader(shadow), "spillway_enforced_ratio", "spillway_shadow_answered_total"); err != nil {
		t.Error(err)
	}
}

func tenant(name string, offered, served int64) boundary.TenantState {
	return boundary.TenantState{Name: name, Tally: answers(offered, map[reason.Reason]int64{reason.Served: served})}
}

// I1: a hundred thousand tenants make no more series than twenty do.
func TestTenantsAreBounded(t *testing.T) {
	s := &source{states: []boundary.ClassState{{Name: "c"}}}
	m := New(Options{})
	m.Watch("app", s)
	var offered int64
	for round := range 100 {
		s.tenants = s.tenants[:0]
		for n := range 1000 {
			s.tenants = append(s.tenants, tenant(fmt.Sprintf("tenant-%d-%d-%s\n\xff\"", round, n, strings.Repeat("x", 100)), int64(n), 0))
		}
		offered += 1000 * 999 / 2
		s.states[0].Tally.Offered = offered
		scrape(t, m)
	}
	body := scrape(t, m)
	if n := strings.Count(body, "\nspillway_tenant_offered_total{"); n > TenantsMost+1 {
		t.Errorf("%d tenants have labels, want at most %d and other", n, TenantsMost)
	}
	if len(body) > 1<<20 {
		t.Errorf("a scrape is %d bytes", len(body))
	}
}

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("a scrape answered %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// No counter runs backwards: not when a tenant gets its label, not when the
// gate has forgotten it and it comes back.
func TestTenantCountersNeverRunBackwards(t *testing.T) {
	type step struct {
		tenants []boundary.TenantState
		total   int64
		want    map[string]int64
	}
	steps := []step{
		{[]boundary.TenantState{tenant("a", 50, 40), tenant("b", 2, 2)}, 1000, map[string]int64{"a": 0, "other": 1000}},
		{[]boundary.TenantState{tenant("a", 60, 45), tenant("b", 20, 2)}, 1030, map[string]int64{"a": 10, "b": 0, "other": 1020}},
		{[]boundary.TenantState{tenant("b", 25, 2)}, 1040, map[string]int64{"a": 10, "b": 5, "other": 1025}}, // a was forgotten
		{[]boundary.TenantState{tenant("a", 7, 1), tenant("b", 25, 2)}, 1047, map[string]int64{"a": 17, "b": 5, "other": 1025}},
		{[]boundary.TenantState{tenant("other", 500, 1)}, 1547, map[string]int64{"a": 17, "b": 5, "other~2": 0, "other": 1525}},
	}
	var c tenantCounts
	for i, s := range steps {
		total := answers(s.total, nil)
		for _, got := range c.take(s.tenants, &total) {
			if want, ok := s.want[got.Label]; !ok || want != got.Offered {
				t.Errorf("step %d: %s has %d, want %d", i, got.Label, got.Offered, want)
			}
			delete(s.want, got.Label)
		}
		if len(s.want) > 0 {
			t.Errorf("step %d: %v are missing", i, s.want)
		}
	}
}

func TestHistogram(t *testing.T) {
	var h Histogram
	durations := []time.Duration{-1, 0, 1, 500, 2 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 1001 * time.Microsecond, time.Second, time.Hour}
	for _, d := range durations {
		h.Observe(d)
	}
	var m dto.Histogram
	h.write(&m)
	if m.GetSampleCount() != uint64(len(durations)) {
		t.Errorf("%d counted, want %d", m.GetSampleCount(), len(durations))
	}
	coarse := map[float64]uint64{0.0001: 6, 0.001: 7, 0.0025: 8, 1: 9, 30: 9}
	for _, b := range m.Bucket {
		if want, ok := coarse[b.GetUpperBound()]; ok && b.GetCumulativeCount() != want {
			t.Errorf("at most %v s: %d, want %d", b.GetUpperBound(), b.GetCumulativeCount(), want)
		}
	}
	fine := m.GetZeroCount()
	var n int64
	for _, d := range m.PositiveDelta {
		n += d
		fine += uint64(n)
	}
	if fine != m.GetSampleCount() || m.GetZeroCount() != 4 {
		t.Errorf("the native buckets hold %d, %d of them at once; want %d and 4", fine, m.GetZeroCount(), m.GetSampleCount())
	}
}

// Every duration lies inside the native bucket that it is counted in: bucket i
// is (2^((i-1)/4), 2^(i/4)].
func TestNativeBucketsHoldWhatTheySay(t *testing.T) {
	for d := time.Microsecond; d < 17*time.Minute; d += d/7 + 1 {
		i := nativeIndex(d)
		if i < 0 {
			continue
		}
		key := i + 1 + expLeast*perDouble
		low, high := math.Exp2(float64(key-1)/perDouble), math.Exp2(float64(key)/perDouble)
		if s := d.Seconds(); s <= low || s > high*(1+1e-15) {
			t.Fatalf("%v is counted in (%v, %v]", d, low, high)
		}
	}
}

func TestSampler(t *testing.T) {
	s := NewSampler[string](2)
	now := time.Unix(1000, 0)
	type seen struct {
		show     bool
		withheld int
	}
	at := func(d time.Duration, kind string, want seen) {
		t.Helper()
		if show, n := s.Sample(now.Add(d), kind); show != want.show || n != want.withheld {
			t.Errorf("at %v: %v, %d; want %+v", d, show, n, want)
		}
	}
	at(0, "a", seen{true, 0})
	at(0, "a", seen{true, 0})
	at(0, "a", seen{false, 0})
	at(0, "b", seen{true, 0})
	at(999*time.Millisecond, "a", seen{false, 0})
	at(time.Second, "a", seen{true, 2})
	at(time.Second, "a", seen{true, 0})
	at(time.Second, "a", seen{false, 0})
	if rest := s.Flush(); len(rest) != 1 || rest["a"] != 1 {
		t.Errorf("flushed %v, want a: 1", rest)
	}
	at(-time.Hour, "a", seen{true, 0}) // the wall clock was set back
}

func TestLogger(t *testing.T) {
	for format, want := range map[string]string{"json": `"path":"a\nb"`, "text": `path="a\nb"`} {
		var b bytes.Buffer
		l, err := NewLogger(&b, format, "info")
		if err != nil {
			t.Fatal(err)
		}
		l.Debug("not shown")
		l.Info("shown", slog.String("path", "a\nb"))
		if strings.Count(b.String(), "\n") != 1 || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %q", format, b.String())
		}
	}
	if _, err := NewLogger(nil, "xml", "info"); err == nil {
		t.Error("format xml was taken")
	}
	if _, err := NewLogger(nil, "json", "loud"); err == nil {
		t.Error("level loud was taken")
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{"acme": "acme", "a\nb": `a\nb`, `say "x"`: `say "x"`, "\xff": `\xff`, "ü": `\u00fc`, strings.Repeat("\n", 100): strings.Repeat(`\n`, 32)} {
		if got := Printable(in, 64); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// BenchmarkObserve is what a request pays for a histogram.
func BenchmarkObserve(b *testing.B) {
	var h Histogram
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for d := time.Duration(0); pb.Next(); d = (d + 977) % (100 * time.Millisecond) {
			h.Observe(d)
		}
	})
}
