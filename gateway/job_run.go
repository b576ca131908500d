package gateway

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gateway/jobs"
	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/reason"
)

// errKeepsNothing is why a reload that would keep something for the first time is refused.
var errKeepsNothing = errors.New("jobs, keys and when_full: persist need a ledger, which is opened at the start: restart")

// startKeeping opens the ledger that is configured, and makes ready what is kept in it.
func (g *Gateway) startKeeping(cfg *config.Config) error {
	if cfg.Ledger.URL.IsZero() {
		return nil
	}
	if err := g.openLedger(cfg); err != nil || !cfg.Kept() {
		return err
	}
	g.jobs = jobs.New(g.ledger, jobSettings(cfg), g.offerJob, g.log.Logger)
	g.seen.Jobs = g.jobMetrics
	return nil
}

// beginKeeping looks at what processes that are gone have left, and begins to work off
// the jobs that wait.
func (g *Gateway) beginKeeping() error {
	if g.ledger == nil {
		return nil
	}
	if err := g.joinLedger(); err != nil {
		return err
	}
	if g.jobs != nil {
		g.jobs.Start()
		g.jobs.Classes(g.current.Load().jobClasses())
	}
	return nil
}

// stopKeeping closes the ledger.
func (g *Gateway) stopKeeping() error {
	if g.ledger == nil {
		return nil
	}
	return g.ledger.Close()
}

// endJobs ends the offering of jobs and waits, while ctx lasts, for those that run.
func (g *Gateway) endJobs(ctx context.Context) {
	if g.jobs != nil {
		g.jobs.Stop(ctx)
	}
}

// offerJob offers a job to its class as a request like any other.
func (g *Gateway) offerJob(name string, w *jobs.Writer, r *http.Request) bool {
	g.flights.Add(1)
	defer g.flights.Done()
	n := g.current.Load()
	i := slices.IndexFunc(n.classes, func(c *class) bool { return c.name == name })
	if i < 0 {
		return false
	}
	g.admit(w, r, n.classes[i], nil)
	return true
}

// beginKept has the start marker of what is kept written, once it has the right to run.
// If it is not to run after all, that is given back.
func beginKept(w *jobs.Writer, p gate.Permit) bool {
	if w.Begin() == nil {
		return true
	}
	p.Finish(reason.None)
	return false
}

// jobMetrics is what a scrape sees of jobs.
func (g *Gateway) jobMetrics() (all []observe.Jobs) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, c := range g.current.Load().classes {
		n := g.jobs.Count(c.name)
		o := observe.Jobs{Class: c.name, Accepted: n.Accepted.Load(), Replayed: n.Replayed.Load(), Started: n.Started.Load(), Refused: n.Refused.Load()}
		for s := range o.Ended {
			o.Ended[s] = n.Ended[s].Load()
		}
		if b, err := g.ledger.Backlog(ctx, c.name); err == nil {
			o.Line, o.Known = b.Line, true
			o.Oldest = max(b.Now.Sub(b.First), 0)
		}
		all = append(all, o)
	}
	return all
}
