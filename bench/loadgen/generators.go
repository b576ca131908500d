package main

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/workload"
)

// source is the schedule that both generators are given.
func source(o options, names *workload.Names) (workload.Source, error) {
	rate, err := workload.ConstantRate(o.rate)
	if err != nil {
		return nil, err
	}
	arrivals, err := workload.ParseArrivals(o.arrivals)
	if err != nil {
		return nil, err
	}
	return workload.Spec{Seed: o.seed, Stream: "bench", Rate: rate, Arrivals: arrivals, For: o.length}.Source(names)
}

func ours(o options) (outcome, error) {
	names := workload.NewNames()
	s, err := source(o, names)
	if err != nil {
		return outcome{}, err
	}
	r, err := load.Run(context.Background(), load.Config{URL: o.url, Source: s, Names: names, Timeout: 5 * time.Second})
	if err != nil {
		return outcome{}, err
	}
	failed := r.Unsent
	for _, n := range r.Errors {
		failed += n
	}
	return outcome{LagP50: r.Lag.P50, LagP99: r.Lag.P99, PerSecond: float64(r.Attempts) / r.Length.Seconds(), Failed: failed}, nil
}

// workers is the number that serves vegeta best: left to start workers as it
// goes, it lags by whole seconds on one core.
const workers = 256

func vegetas(o options) (outcome, error) {
	s, err := source(o, workload.NewNames())
	if err != nil {
		return outcome{}, err
	}
	p := &pacer{}
	var a workload.Arrival
	for s.Next(&a) {
		p.schedule = append(p.schedule, a.At)
	}
	attacker := vegeta.NewAttacker(vegeta.Workers(workers), vegeta.MaxWorkers(workers), vegeta.Connections(workers),
		vegeta.KeepAlive(true), vegeta.HTTP2(false), vegeta.Timeout(5*time.Second))
	targeter := vegeta.NewStaticTargeter(vegeta.Target{Method: http.MethodGet, URL: o.url})

	type sent struct {
		seq uint64
		at  time.Time
	}
	all := make([]sent, 0, len(p.schedule))
	var out outcome
	for r := range attacker.Attack(targeter, p, 0, "bench") {
		all = append(all, sent{r.Seq, r.Timestamp})
		if r.Code != http.StatusOK {
			out.Failed++
		}
	}
	lags := hdrhistogram.New(1, int64(time.Minute), 3)
	for _, x := range all {
		due := p.start().Add(p.schedule[x.seq])
		if err := lags.RecordValue(max(1, x.at.Sub(due).Nanoseconds())); err != nil {
			return out, err
		}
	}
	ms := func(q float64) float64 { return float64(lags.ValueAtQuantile(q)) / 1e6 }
	out.LagP50, out.LagP99 = ms(50), ms(99)
	out.PerSecond = float64(len(all)) / o.length.Seconds()
	return out, nil
}

// pacer has vegeta follow a schedule.
type pacer struct {
	schedule []time.Duration

	mu    sync.Mutex
	began time.Time
}

// Pace implements vegeta.Pacer.
func (p *pacer) Pace(elapsed time.Duration, hits uint64) (wait time.Duration, stop bool) {
	// Vegeta does not tell when it began. It is asked so often that the earliest
	// guess is right to the microsecond.
	guess := time.Now().Add(-elapsed)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.began.IsZero() || guess.Before(p.began) {
		p.began = guess
	}
	if hits >= uint64(len(p.schedule)) {
		return 0, true
	}
	return max(0, p.schedule[hits]-elapsed), false
}

// Rate implements vegeta.Pacer; nothing that is used here asks for it.
func (p *pacer) Rate(time.Duration) float64 { return 0 }

func (p *pacer) start() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.began
}
