package demo

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
)

// Options of a demo; the zero value is the one in the README.
type Options struct {
	Seed uint64
	// Without and With are how long the service is offered its load on its
	// own, and behind the gateway.
	Without, With time.Duration
	// Recording, if set, is offered instead of the scene's own load.
	Recording *Recording
	// Progress is told how each of the two runs goes.
	Progress func(phase string, length time.Duration, p load.Progress)
	Meta     report.Meta
}

// Lengths of the two runs. The first is as long as it takes to see that a line
// without end does not recover; the second long enough for a p99 to mean
// something.
const (
	withoutDefault = 12 * time.Second
	withDefault    = 20 * time.Second
)

func (o Options) withDefaults() Options {
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Without == 0 {
		o.Without = withoutDefault
	}
	if o.With == 0 {
		o.With = withDefault
	}
	if o.Progress == nil {
		o.Progress = func(string, time.Duration, load.Progress) {}
	}
	return o
}

// Names of the runs.
const (
	Without   = "without"
	With      = "with spillway"
	Predicted = "predicted"
)

// Result is what was measured, live, and what had been predicted.
type Result struct {
	Without, With                   *report.Report
	PredictedWithout, PredictedWith *report.Report
	// Lag is how far the generator was behind its schedule in the two runs.
	Lag [2]load.Figures
}

// Differences lays the protected run and its prediction beside each other.
func (r *Result) Differences() []report.Difference {
	return report.Compare(r.With, r.PredictedWith)
}

// Run runs the demo. It takes about as long as the two runs together.
func Run(ctx context.Context, o Options) (*Result, error) {
	o = o.withDefaults()
	r := new(Result)
	for _, step := range []func(context.Context, Options) error{r.predict, r.runWithout, r.runWith} {
		if err := step(ctx, o); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return r, nil
}

// overhead is what network, gateway and a sleep that ends a little late add to
// an answer of the service.
const overhead = time.Millisecond

// predict tries both runs in virtual time before either is made.
func (r *Result) predict(_ context.Context, o Options) error {
	cfg, err := configure("http://127.0.0.1:1", o.Seed)
	if err != nil {
		return err
	}
	one := func(length time.Duration, unprotected bool) (*report.Report, error) {
		names := workload.NewNames()
		loads, done, err := o.loads(names)
		if err != nil {
			return nil, err
		}
		defer done()
		result, err := trial.Trial{
			Config: cfg, Loads: loads, Names: names, Seed: o.Seed, For: length,
			Unprotected: unprotected, Overhead: overhead, Meta: o.Meta,
			Report: report.Options{Bucket: bucket},
		}.Run(nil)
		if err != nil {
			return nil, err
		}
		return result.Report, nil
	}
	if r.PredictedWithout, err = one(o.Without, true); err != nil {
		return err
	}
	r.PredictedWith, err = one(o.With, false)
	return err
}

// bucket is the grain of the demo's pictures.
const bucket = 200 * time.Millisecond

func (r *Result) runWithout(ctx context.Context, o Options) error {
	s, err := startService(slots, serviceTime)
	if err != nil {
		return err
	}
	defer s.stop()
	// Nobody tells these callers anything: they give up at their deadline.
	r.Without, r.Lag[0], err = o.offer(ctx, Without, s.url(), o.Without, deadline)
	return err
}

func (r *Result) runWith(ctx context.Context, o Options) error {
	s, err := startService(slots, serviceTime)
	if err != nil {
		return err
	}
	defer s.stop()
	cfg, err := configure(s.url(), o.Seed)
	if err != nil {
		return err
	}
	url, stop, err := startGateway(cfg, o.Meta.Version)
	if err != nil {
		return err
	}
	r.With, r.Lag[1], err = o.offer(ctx, With, url, o.With, 2*deadline)
	if stopped := stop(); err == nil {
		err = stopped
	}
	return err
}

// startGateway serves the configuration on a free port.
func startGateway(cfg *config.Config, version string) (url string, stop func() error, err error) {
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	g, err := gateway.New(cfg, gateway.Options{
		Listener: front, Version: version, DrainLimit: 2 * time.Second,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		front.Close()
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Serve(ctx) }()
	return "http://" + front.Addr().String(), func() error {
		cancel()
		return <-done
	}, nil
}

// offer sends the load at a URL and returns what became of it.
func (o Options) offer(ctx context.Context, phase, url string, length, timeout time.Duration) (*report.Report, load.Figures, error) {
	names := workload.NewNames()
	loads, done, err := o.loads(names)
	if err != nil {
		return nil, load.Figures{}, err
	}
	defer done()
	var sources []workload.Source
	for i, l := range loads {
		source, err := l.Open(i, o.Seed, length, names)
		if err != nil {
			return nil, load.Figures{}, err
		}
		sources = append(sources, source)
	}
	collector := report.NewCollector(report.Options{For: length, Bucket: bucket})
	for _, c := range capacities {
		collector.Class(c.class).Capacity(0, c.perSecond)
	}
	result, err := load.Run(ctx, load.Config{
		URL:       url + "/{{.Class}}/item",
		Header:    []string{"X-Tenant: {{.Tenant}}"},
		Source:    workload.Until(workload.Merge(sources...), length),
		Names:     names,
		Timeout:   timeout,
		Deadline:  deadline,
		Collector: collector,
		Progress:  func(p load.Progress) { o.Progress(phase, length, p) },
	})
	if err != nil {
		return nil, load.Figures{}, fmt.Errorf("%s: %w", phase, err)
	}
	about := report.About{Mode: "live", Seed: o.Seed, Seconds: length.Seconds(), Meta: o.Meta}
	if result.LagExceeded {
		about.Warnings = append(about.Warnings, fmt.Sprintf(
			"this machine was busy: requests were sent up to %.1f ms late (p99), so latencies are that much too long", result.Lag.P99))
	}
	return result.Collector.Report(about), result.Figures, nil
}
