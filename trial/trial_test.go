package trial_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
)

const file = `version: 1
upstreams:
  app:   { url: "http://127.0.0.1:1", slots: 6, service: 100ms }
  mixed: { url: "http://127.0.0.1:2", slots: 4, service: { mix: [ [0.9, 10ms], [0.1, 100ms] ] } }
  dark:  { url: "http://127.0.0.1:3" }
classes:
  checkout:
    match: { path: "/checkout/*" }
    upstream: app
    slots: 4
    budget: { latency: 300ms, service: 100ms }
    deadline: 500ms
    call: { timeout: 250ms, pass_deadline: false }
    tenant: { key: "header:X-Tenant", policy: wrr }
  batch: { match: { path: "/batch/*" }, upstream: app, slots: 2, deadline: 1s }
  mixed: { match: { path: "/mixed/*" }, upstream: mixed, slots: 4, deadline: 1s }
  dark:  { match: { path: "/*" }, upstream: dark, slots: 3, deadline: 1s }
`

func configuration(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// lit is the file without the upstream of which nothing is known.
func lit(t *testing.T) *config.Config {
	t.Helper()
	var kept []string
	for line := range strings.SplitSeq(file, "\n") {
		if !strings.Contains(line, "dark:") {
			kept = append(kept, line)
		}
	}
	return configuration(t, strings.Join(kept, "\n"))
}

func at(t *testing.T, perSecond float64) workload.Rate {
	t.Helper()
	rate, err := workload.ConstantRate(perSecond)
	if err != nil {
		t.Fatal(err)
	}
	return rate
}

func constant(t *testing.T, d time.Duration) workload.Service {
	t.Helper()
	service, err := workload.ConstantService(d)
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// opened returns the requests of load i as text.
func opened(t *testing.T, l trial.Load, i int, seed uint64, length time.Duration) []string {
	t.Helper()
	names := workload.NewNames()
	source, err := l.Open(i, seed, length, names)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	var a workload.Arrival
	for source.Next(&a) {
		all = append(all, a.At.String()+" "+names.Classes.String(a.Class)+" "+names.Tenants.String(a.Tenant))
	}
	return all
}

// TestSameRequests: what is tried in virtual time and what is sent to a live
// gateway are the same requests, as long as seed, length and number are.
func TestSameRequests(t *testing.T) {
	l := trial.Load{Class: "checkout", Spec: workload.Spec{Rate: at(t, 100)}}
	var err error
	if l.Spec.Tenants, err = workload.ParseMix("acme=2,beta=1"); err != nil {
		t.Fatal(err)
	}
	first := opened(t, l, 0, 1, time.Second)
	if len(first) < 50 {
		t.Fatalf("%d requests in a second at 100/s", len(first))
	}
	for _, c := range []struct {
		name   string
		number int
		seed   uint64
		same   bool
	}{
		{"opened again", 0, 1, true},
		{"another load", 1, 1, false},
		{"another seed", 0, 2, false},
	} {
		again := opened(t, l, c.number, c.seed, time.Second)
		if same := strings.Join(first, "\n") == strings.Join(again, "\n"); same != c.same {
			t.Errorf("%s: the same requests: %v, want %v", c.name, same, c.same)
		}
	}
	for _, line := range first {
		if !strings.Contains(line, " checkout ") {
			t.Fatalf("a request of another class: %s", line)
		}
	}
}

// TestSourceTakesTheLoadsClass: a trace is whose load it is.
func TestSourceTakesTheLoadsClass(t *testing.T) {
	l := trial.Load{Class: "batch", Source: workload.Slice([]workload.Arrival{{At: 1}, {At: 2}})}
	if got := opened(t, l, 0, 1, 0); len(got) != 2 || !strings.Contains(got[0], " batch ") {
		t.Errorf("opened %q", got)
	}
}

// TestScenario: file and model say the same thing.
func TestScenario(t *testing.T) {
	tr := trial.Trial{
		Config: lit(t), For: time.Second, Overhead: 3 * time.Millisecond, NoticesCancel: true, Seed: 7,
		Loads: []trial.Load{{Spec: workload.Spec{Rate: at(t, 10)}}},
	}
	s, err := tr.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	if s.Seed != 7 || s.For != time.Second || s.Overhead != 3*time.Millisecond || len(s.Resources) != 2 {
		t.Errorf("scenario: seed %d, for %v, overhead %v, %d resources", s.Seed, s.For, s.Overhead, len(s.Resources))
	}
	app := s.Resources[0]
	if app.Boundary.Name != "app" || app.Upstream.Slots != 6 || !app.Upstream.NoticesCancel || !app.Boundary.Strict || app.Boundary.Seed != 7 {
		t.Errorf("resource app: %+v", app)
	}
	if len(app.Calls) != 2 || app.Calls[0] != (sim.Call{Timeout: 250 * time.Millisecond}) || !app.Calls[1].PassDeadline {
		t.Errorf("calls of app: %+v", app.Calls)
	}
	if s.Streams[0].Class != "checkout" {
		t.Errorf("a load that names no class is of %q, want the first", s.Streams[0].Class)
	}
	if got := app.Upstream.Service.String(); got != "100ms" {
		t.Errorf("app serves in %s", got)
	}
	if got := s.Resources[1].Upstream.Service.String(); got != "mix:0.9*10ms,0.1*100ms" {
		t.Errorf("mixed serves in %s", got)
	}

	tr.Service = constant(t, 20*time.Millisecond)
	if s, err = tr.Scenario(); err != nil || s.Resources[0].Upstream.Service.String() != "20ms" {
		t.Errorf("a service time of the trial's own goes before the file's: %v, %v", s.Resources[0].Upstream.Service, err)
	}
}

// TestBrokenOff: where the file breaks calls off, the model's upstream stops too.
func TestBrokenOff(t *testing.T) {
	for _, c := range []struct {
		batch string
		want  bool
	}{{"off", false}, {"on", true}} {
		text := strings.Replace(file, "    call:", "    abandoned: { cancel: on }\n    call:", 1)
		text = strings.Replace(text, "upstream: app, slots: 2,", "upstream: app, slots: 2, abandoned: { cancel: "+c.batch+" },", 1)
		s, err := trial.Trial{Config: configuration(t, text), Service: constant(t, time.Second)}.Scenario()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Resources[0].Upstream.NoticesCancel; got != c.want {
			t.Errorf("checkout is broken off and batch %s: the upstream notices: %v, want %v", c.batch, got, c.want)
		}
	}
}

// TestSeed: the trial's, else the file's.
func TestSeed(t *testing.T) {
	cfg := configuration(t, strings.Replace(file, "version: 1", "version: 1\nseed: 11", 1))
	for _, c := range []struct{ given, want uint64 }{{0, 11}, {3, 3}} {
		s, err := trial.Trial{Config: cfg, Seed: c.given, Service: constant(t, time.Second)}.Scenario()
		if err != nil || s.Seed != c.want || s.Resources[0].Boundary.Seed != c.want {
			t.Errorf("seed %d: %d and %d, want %d (%v)", c.given, s.Seed, s.Resources[0].Boundary.Seed, c.want, err)
		}
	}
}

// TestFaults: each says what to add or change.
func TestFaults(t *testing.T) {
	drawn := workload.Spec{Rate: at(t, 10)}
	traced := trial.Load{Source: workload.Slice([]workload.Arrival{{Service: time.Millisecond}})}
	for _, c := range []struct {
		name  string
		trial trial.Trial
		says  string
	}{
		{"unknown class", trial.Trial{Config: lit(t), Loads: []trial.Load{{Class: "chekout", Spec: drawn}}}, `class "chekout" is not in the configuration; its classes are checkout, batch, mixed`},
		{"no service time", trial.Trial{Config: configuration(t, file), Loads: []trial.Load{{Class: "dark", Spec: drawn}}}, "upstream dark: how long it serves is not known; say `service: 100ms` in its upstream, or --service"},
		{"unprotected without slots", trial.Trial{Config: configuration(t, file), Loads: []trial.Load{traced}, Unprotected: true}, "upstream dark: how much it can do is not known, so it cannot be tried unprotected; say `slots: N` in its upstream"},
		{"a load that cannot be drawn", trial.Trial{Config: lit(t), Loads: []trial.Load{{Spec: workload.Spec{Rate: at(t, 10), Cost: -1}}}}, "load of class checkout: a cost of -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := c.trial.Scenario(); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Scenario: %v\nwant %s", err, c.says)
			}
			if _, err := c.trial.Run(nil); err == nil {
				t.Error("Run found nothing wrong")
			}
		})
	}
}

// TestTraceKnowsItsServiceTimes: where the file does not.
func TestTraceKnowsItsServiceTimes(t *testing.T) {
	cfg := configuration(t, file)
	result, err := trial.Trial{Config: cfg, Loads: []trial.Load{{Class: "dark", Source: workload.Slice([]workload.Arrival{
		{At: 0, Service: 40 * time.Millisecond}, {At: time.Second, Service: 80 * time.Millisecond},
	})}}}.Run(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := float64(result.Report.Classes["dark"].MaxMs); got != 80 {
		t.Errorf("the slower one took %v ms, recorded 80", got)
	}
}

// TestRun: twice what can be done, with and without spillway in front.
func TestRun(t *testing.T) {
	try := func(unprotected bool) *sim.Result {
		result, err := trial.Trial{
			Config: lit(t), For: 20 * time.Second, Unprotected: unprotected,
			Loads: []trial.Load{{Class: "checkout", Spec: workload.Spec{Rate: at(t, 120)}}},
		}.Run(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := result.Report.Check(); err != nil {
			t.Error(err)
		}
		return result
	}
	with, without := try(false), try(true)
	if offered := with.Report.Offered; offered != without.Report.Offered || offered < 2000 {
		t.Errorf("offered %d with, %d without: want the same requests", offered, without.Report.Offered)
	}
	// 4 slots of 100 ms do 40/s; without classes all 6 do 60/s, for callers who have left.
	if got := float64(with.Report.GoodputPerS); got < 39 || got > 41 {
		t.Errorf("with spillway %v/s in time, capacity is 40/s", got)
	}
	if got := float64(without.Report.GoodputPerS); got > 20 {
		t.Errorf("without spillway %v/s in time at twice the capacity", got)
	}
}
