package load

import (
	"context"
	"time"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload"
)

// Result is what a run did.
type Result struct {
	Collector *report.Collector // the outcomes; ask it for the Report
	Length    time.Duration     // of the schedule: its last instant
	Elapsed   time.Duration     // until the last answer
	Stopped   bool              // by its context, before the schedule's end
	Figures
}

// Figures are about the generator, not the target: whether to believe the rest.
type Figures struct {
	Offered     int64            `json:"offered"`     // by the schedule, sent or not
	Unsent      int64            `json:"unsent"`      // of these, for want of room in MaxInFlight; reason "unsent"
	Late        int64            `json:"late"`        // sent more than the lag bound after their time
	Attempts    int64            `json:"attempts"`    // sent in all, those that a Retry-After asked for included
	Connections int64            `json:"connections"` // opened (HTTP/1.1)
	Dialled     int64            `json:"dialled"`     // attempts that found none open and had to wait for theirs
	Errors      map[string]int64 `json:"errors"`      // what broke connections and calls, the first few kinds
	Lag         Lag              `json:"lag"`
	LagBound    float64          `json:"lag_bound_ms"`
	LagExceeded bool             `json:"lag_exceeded"` // p99 above the bound: do not believe the result
}

// Lag is by how much requests left after their time, in ms: until they were
// written or, where no connection was open, until one was asked for. What the
// connection then takes is the target's, and part of the latency.
type Lag struct {
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
}

// Progress is how far a run is.
type Progress struct {
	Elapsed   time.Duration // since the start of the schedule
	Scheduled time.Duration // how far the schedule has been walked
	Offered   int64
	Answered  int64
	InFlight  int64
	Unsent    int64
	Lag       Lag // so far
}

// leadIn is how long before the schedule's start everything is ready.
const leadIn = 20 * time.Millisecond

// Run walks the schedule and returns when every request has been answered or
// given up. When ctx ends it stops sending, breaks what is on the way (counted
// as caller_gone) and returns what was measured so far, Stopped and no error.
//
// An error is a configuration that Validate refuses, a target that cannot be
// connected to at the start, or a source that failed; the last comes with the
// result of what it had offered. Goroutines and connections are gone when Run
// returns.
func Run(ctx context.Context, config Config) (Result, error) {
	if err := config.Validate(); err != nil {
		return Result{}, err
	}
	g, err := newGenerator(ctx, config.withDefaults())
	if err != nil {
		return Result{}, err
	}
	done, reported := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(reported)
		g.report(done)
	}()
	walked := make(chan struct{})
	g.start = time.Now().Add(leadIn)
	close(g.started)
	go func() {
		defer close(walked)
		g.walk(ctx)
	}()
	stop := context.AfterFunc(ctx, g.abandon)
	<-walked
	g.open.Wait()
	elapsed := time.Since(g.start)
	if !stop() {
		<-g.abandoned
	}
	g.carrier.close()
	close(done)
	<-reported

	length := time.Duration(g.scheduled.Load())
	r := Result{Collector: g.Collector, Length: length, Elapsed: elapsed, Stopped: !g.ended, Figures: g.record.figures(g.LagBound, length)}
	if p, pooled := g.carrier.(*pool); pooled {
		r.Connections, r.Dialled = p.opened.Load(), p.dialled.Load()
	}
	return r, workload.Err(g.Source)
}
