package gateway

import (
	"cmp"
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gateway/edge"
	"github.com/spillway-dev/spillway/gateway/jobs"
	"github.com/spillway-dev/spillway/gateway/reserve"
	"github.com/spillway-dev/spillway/gateway/steer"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/observe/decisions"
	"github.com/spillway-dev/spillway/observe/pressure"
	"github.com/spillway-dev/spillway/observe/quality"
	"github.com/spillway-dev/spillway/workload/record"
)

// Options are what a program, a test or the demo may bring of its own. The zero
// value serves a configuration as it is.
type Options struct {
	// Listener and AdminListener replace the addresses of the configuration.
	// Serve closes them.
	Listener, AdminListener net.Listener
	// Logger replaces the one that the configuration asks for.
	Logger *slog.Logger
	// Registry takes the metrics; nil: one of the gateway's own.
	Registry *prometheus.Registry
	// Load reads the configuration again, for Reload; nil: there is nothing to
	// read again.
	Load func() (*config.Config, error)
	// Version is shown in metrics.
	Version string
	// DrainDelay is how long the gateway goes on as before after /readyz has
	// begun to say no, so that whoever sends traffic can find out. Default 0.
	DrainDelay time.Duration
	// DrainLimit bounds how long what runs is waited for at the end. Default
	// DrainLimitDefault.
	DrainLimit time.Duration
	// StreamIdle is how long an answer, once begun, may stand still: no byte
	// from the upstream, or none taken by the caller. Default
	// StreamIdleDefault.
	StreamIdle time.Duration
	// LongWay has net/http serve what would be plain (see package wire): to rule
	// the short way out when something is strange, and to hold the two side by side.
	LongWay bool
	// Pprof adds /debug/pprof to the admin listener.
	Pprof bool
}

// Defaults of Options.
const (
	// DrainLimitDefault is what orchestrators commonly grant before they kill.
	DrainLimitDefault = 25 * time.Second
	// StreamIdleDefault is what proxies commonly allow between two reads.
	StreamIdleDefault = 60 * time.Second
)

// Gateway is a reverse proxy with a gate in front of each upstream.
type Gateway struct {
	opts      Options
	current   atomic.Pointer[generation] // in force
	recorder  *record.Recorder           // nil: nothing is recorded
	seen      *observe.Metrics
	decisions *decisions.Log
	quality   *quality.Book
	board     *steer.Board
	loads     atomic.Bool // answers say how full it is
	log       *journal
	quiet     *log.Logger // what net/http says by itself, at debug
	readiness *readiness
	hangups   *hangups
	idle      time.Duration
	ledger    *ledger.Ledger // nil: nothing is kept
	jobs      *jobs.Jobs     // nil with it
	reserver  *reserve.Reserver
	telling   sync.WaitGroup // the ledger of further attempts
	runners   runners
	flows     flows
	pressing  pressing
	fronts    fronts

	reloading   sync.Mutex           // held by one reload at a time, and what follows is guarded by it
	lastRefused string               // why the latest reload was; empty: it was not
	wound       bool                 // the end has begun: nothing is reloaded any more
	operated    map[string]Operation // by class: what was switched by hand last

	caps       *edge.Caps
	guard      *edge.Guard
	in         atomic.Pointer[entrances] // nil until Serve listens
	serving    chan struct{}             // closed when it has its addresses
	successor  chan struct{}             // closed when another process has taken over
	succeeded  atomic.Bool
	succeeding atomic.Bool

	overrides overrides

	draining atomic.Bool
	flights  sync.WaitGroup // handlers and abandoned calls

	mu        sync.Mutex
	abandoned map[*exchange]struct{}
	retired   []*upstream // that no generation in force uses
	stopping  bool
}

// New returns a gateway for a configuration that passed validation. It starts
// nothing but the watch for hang-ups; call Serve, or Close if Serve is never
// called.
func New(cfg *config.Config, opts Options) (*Gateway, error) {
	cfg = cfg.WithDefaults()
	opts.DrainLimit = cmp.Or(opts.DrainLimit, DrainLimitDefault)
	opts.StreamIdle = cmp.Or(opts.StreamIdle, StreamIdleDefault)
	if opts.Logger == nil {
		logger, err := observe.NewLogger(os.Stderr, string(cfg.Log.Format), string(cfg.Log.Level))
		if err != nil {
			return nil, err
		}
		opts.Logger = logger
	}
	g := &Gateway{
		opts:      opts,
		seen:      observe.New(observe.Options{Version: opts.Version, Registry: opts.Registry}),
		decisions: new(decisions.Log),
		quality:   quality.NewBook(),
		log:       newJournal(opts.Logger),
		quiet:     slog.NewLogLogger(opts.Logger.Handler(), slog.LevelDebug),
		idle:      opts.StreamIdle,
		abandoned: make(map[*exchange]struct{}),
		readiness: newReadiness(),
		caps:      edge.NewCaps(0, 0),
		serving:   make(chan struct{}),
		successor: make(chan struct{}),
	}
	g.board = steer.New(g.demands)
	g.guard = g.guarded()
	g.reserver = reserve.New(g.log)
	g.seen.Copies = g.copyMetrics
	g.seen.Calls = g.callMetrics
	g.seen.Quotas = g.quotaMetrics
	g.seen.Gaps = g.gapMetrics
	g.seen.Quality = g.qualityMetrics
	g.seen.Overrides = g.remaining
	g.seen.Pressure = g.pressure
	g.seen.Scales = g.scaleMetrics
	first, err := g.newGeneration(cfg, nil)
	if err != nil {
		return nil, err
	}
	if err := g.startKeeping(cfg); err != nil {
		first.discard()
		return nil, err
	}
	g.reserver.Use(g.ledger)
	if err := g.startRecording(cfg); err != nil {
		return nil, errors.Join(err, g.stopKeeping())
	}
	if err := g.adopt(first); err != nil {
		return nil, errors.Join(err, g.stopKeeping())
	}
	g.seen.Reloads.Begin(time.Now(), first.digest)
	g.hangups = newHangups()
	g.startPressing(pressure.NewReader().Read)
	return g, nil
}

// Gate returns the gate of an upstream, or nil. What it tells is what
// /debug/pools shows.
func (g *Gateway) Gate(upstream string) *gate.Gate {
	if r := g.current.Load().find(upstream); r != nil {
		return r.gate
	}
	return nil
}

// Metrics returns the handler that answers scrapes, for a program that has an
// admin listener of its own.
func (g *Gateway) Metrics() http.Handler { return g.seen.Handler() }

// resent counts a request that was sent to its upstream a second time.
func (g *Gateway) resent() { g.seen.Resends.Add(1) }

// abandon notes a call whose handler has left.
func (g *Gateway) abandon(x *exchange) {
	g.flights.Add(1) // the handler's own is still counted: never from zero
	g.mu.Lock()
	defer g.mu.Unlock()
	g.abandoned[x] = struct{}{}
	if g.stopping {
		x.sever(errStopping)
	}
}

// forget strikes off a call that has ended.
func (g *Gateway) forget(x *exchange) {
	g.mu.Lock()
	delete(g.abandoned, x)
	g.mu.Unlock()
	g.flights.Done()
}

// Close ends everything at once: abandoned calls are cut, connections to
// upstreams closed. Handlers must have returned, or their requests be
// cancelled, or Close waits for them. Serve calls it.
func (g *Gateway) Close() {
	g.mu.Lock()
	g.stopping = true
	for x := range g.abandoned {
		x.sever(errStopping)
	}
	g.mu.Unlock()
	cut, now := context.WithCancel(context.Background())
	now()
	g.endJobs(cut)
	g.flights.Wait()
	g.reloading.Lock()
	defer g.reloading.Unlock()
	g.wound = true
	g.overrides.stop()
	g.pressing.close()
	g.runners.close()
	g.current.Load().trust.close()
	for _, r := range g.current.Load().resources {
		r.upstream.close()
		r.gate.Close()
	}
	g.retire(nil)
	g.hangups.close()
	g.current.Load().closeKept()
	g.stopRecording()
	g.settleAll()
	if err := g.stopKeeping(); err != nil {
		g.log.Warn("the ledger did not close well", "error", err)
	}
	g.log.flush()
}

// drain refuses what is new and waits for what runs, within a limit.
func (g *Gateway) drain(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	g.reloading.Lock()
	g.wound = true
	resources := g.current.Load().resources
	g.reloading.Unlock()
	errs := make([]error, len(resources))
	var wait sync.WaitGroup
	wait.Go(func() { g.endJobs(ctx) })
	for i, r := range resources {
		wait.Go(func() { errs[i] = r.gate.Drain(ctx) })
	}
	wait.Wait()
	return errors.Join(errs...)
}
