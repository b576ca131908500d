package demo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/demo"
	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/text"
	"github.com/spillway-dev/spillway/workload/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDemo runs a short demo for real. What it asserts holds with an order of
// magnitude to spare; that live and predicted agree closely is for the whole demo
// on a quiet machine to show.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes six seconds of real time")
	}
	phases := map[string]int{}
	r, err := demo.Run(t.Context(), demo.Options{
		Without: 2 * time.Second, With: 3 * time.Second,
		Progress: func(phase string, _ time.Duration, _ load.Progress) { phases[phase]++ },
		Meta:     report.Meta{Command: "spillway demo", Version: "test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if phases[demo.Without] == 0 || phases[demo.With] == 0 {
		t.Errorf("progress was told of %v", phases)
	}
	for name, of := range map[string]*report.Report{
		"without": r.Without, "with": r.With, "predicted without": r.PredictedWithout, "predicted with": r.PredictedWith,
	} {
		if err := of.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if of.Offered < 1000 || of.Waiting+of.Running > 0 {
			t.Errorf("%s: %d offered, %d waiting and %d running at the end", name, of.Offered, of.Waiting, of.Running)
		}
	}
	if r.PredictedWithout.GoodputPerS > r.PredictedWith.GoodputPerS/2 {
		t.Errorf("predicted without spillway: %v answered a second, with it %v: where is the difference?",
			r.PredictedWithout.GoodputPerS, r.PredictedWith.GoodputPerS)
	}
	predicted(t, r.PredictedWith)
	live(t, r.With)
	shown(t, r)
}

// predicted says what must be true of the protected run in virtual time.
func predicted(t *testing.T, r *report.Report) {
	t.Helper()
	if r.GoodputPerS < 450 {
		t.Errorf("predicted: %v/s answered in time by a service that can do 480/s", r.GoodputPerS)
	}
	if r.Refused["tenant_full"] == 0 || r.Refused["dropped"] == 0 {
		t.Errorf("predicted: twice what can be done is offered, and %v is refused", r.Refused)
	}
	// acme and beta ask for 150/s together of 400/s, noisy for 450/s.
	for _, light := range []string{"acme", "beta"} {
		if g := r.Tenants[light]; g == nil || g.RefusedShare() > 0.02 {
			t.Errorf("predicted: %s asks for less than its share and is refused: %+v", light, g)
		}
	}
}

// live says what must be true of it over real sockets, however busy the machine
// is: a stalled one serves less, yet no worse the light tenants than the noisy.
func live(t *testing.T, r *report.Report) {
	t.Helper()
	if r.Answered.Sum() == 0 || r.Refused.Sum() == 0 {
		t.Errorf("live: twice what can be done is offered, %v is answered and %v refused", r.Answered, r.Refused)
	}
	share := func(tenant string) float64 {
		g := r.Tenants[tenant]
		if g == nil {
			t.Fatalf("live: no tenant %s among %v", tenant, r.Tenants.Names())
		}
		return float64(g.Answered.Sum()) / float64(g.Offered)
	}
	for _, light := range []string{"acme", "beta"} {
		if share(light) < share("noisy")/2 {
			t.Errorf("live: of %s's requests %.2f are answered, of noisy's %.2f", light, share(light), share("noisy"))
		}
	}
}

// shown draws the table and the page.
func shown(t *testing.T, r *demo.Result) {
	t.Helper()
	var out bytes.Buffer
	if err := r.WriteText(&out, text.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"480/s", demo.Without, demo.With, demo.Predicted, "checkout, by tenant", "noisy", "repeat: spillway demo"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, out.String())
		}
	}
	page := filepath.Join(t.TempDir(), "demo.html")
	if err := r.Page().WriteFile(page); err != nil {
		t.Fatal(err)
	}
	if html, err := os.ReadFile(page); err != nil || !bytes.Contains(html, []byte("Live against predicted")) {
		t.Errorf("the page: %v, %d bytes", err, len(html))
	}
	if d := r.Differences(); len(d) != 6 { // three figures of two classes
		t.Errorf("%d differences between live and predicted", len(d))
	}
}

// recording writes a trace of n requests in seconds, half of them in one.
func recording(t *testing.T, n, seconds int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("at,who\n")
	for i := range n {
		at := float64(i) * float64(seconds) / float64(n)
		if i%2 == 0 {
			at = 1
		}
		fmt.Fprintf(&b, "%.6f,t%d\n", at, i%3)
	}
	path := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDemoOfARecording(t *testing.T) {
	if testing.Short() {
		t.Skip("takes three seconds of real time")
	}
	const requests, seconds = 1200, 4
	r, err := demo.Run(t.Context(), demo.Options{
		Without: time.Second, With: 2 * time.Second,
		Recording: &demo.Recording{Path: recording(t, requests, seconds), Mapping: mapping(t, "at=at:s,tenant=who"), Speed: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]*report.Report{"with": r.With, "predicted with": r.PredictedWith} {
		if err := of.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// The recording at twice its speed is as long as the run: all of it is
		// offered, as the checkout's, by its own tenants.
		if of.Offered != requests || of.Classes["checkout"].Offered != requests || of.Tenants["t0"] == nil {
			t.Errorf("%s: %d of %d requests offered, by %v", name, of.Offered, requests, of.Tenants.Names())
		}
		if of.Refused.Sum() == 0 {
			t.Errorf("%s: 600 requests at once, and none was refused", name)
		}
	}
}

// TestDemoSpeed: unless told, a recording is replayed at 60 % of what the service
// can do, so that it is its bursts that overload.
func TestDemoSpeed(t *testing.T) {
	r, err := demo.Run(t.Context(), demo.Options{
		Without: 100 * time.Millisecond, With: 100 * time.Millisecond,
		Recording: &demo.Recording{Path: recording(t, 10, 1000), Mapping: mapping(t, "at=at:s,tenant=who")},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Ten requests of 1,000 s come within 10 / 288 s: all in the tenth of a second.
	if r.With.Offered != 10 || r.PredictedWith.Offered != 10 {
		t.Errorf("offered %d live, %d predicted; want the 10 there are", r.With.Offered, r.PredictedWith.Offered)
	}
}

func TestDemoFaults(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		name string
		ctx  context.Context
		of   *demo.Recording
		says string
	}{
		{"no such recording", t.Context(), &demo.Recording{Path: "nowhere.csv"}, "nowhere.csv"},
		{"columns unknown", t.Context(), &demo.Recording{Path: recording(t, 10, 1)}, "at="},
		{"one request has no rate", t.Context(), &demo.Recording{Path: recording(t, 1, 1), Mapping: mapping(t, "at=at:s")}, "--speed"},
		{"ended beforehand", ended, nil, "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := demo.Options{Without: 100 * time.Millisecond, With: 100 * time.Millisecond, Recording: c.of}
			if r, err := demo.Run(c.ctx, o); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Run = %v, %v; want an error that says %q", r, err, c.says)
			}
		})
	}
}

func TestDemoCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := demo.Run(ctx, demo.Options{
		Without: 30 * time.Second, With: time.Second,
		Progress: func(_ string, _ time.Duration, p load.Progress) {
			if p.Answered > 0 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted demo ends with %v", err)
	}
}

func mapping(t *testing.T, text string) trace.Mapping {
	t.Helper()
	m, err := trace.ParseMapping(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
