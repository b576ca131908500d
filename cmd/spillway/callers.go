package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/sim"
)

// callers are the flags that say how simulated callers behave.
type callers struct {
	patience time.Duration
	retries  int
	backoff  string
	budget   float64
	honour   bool
}

func (o *callers) flags(c *cobra.Command) {
	f := c.Flags()
	f.DurationVar(&o.patience, "patience", 0, "callers hang up after this long; 0: they wait for their answer")
	f.IntVar(&o.retries, "retries", 0, "attempts after the first that callers make")
	f.StringVar(&o.backoff, "backoff", "none", "their pause before a retry: none, 100ms, or 100ms-2s for doubling with full jitter")
	f.Float64Var(&o.budget, "retry-budget", 0, "retries as a share of first attempts, 0.1 for 10 %; 0: without limit")
	f.BoolVar(&o.honour, "honour-retry-after", false, "callers come back when they were told to")
}

func (o *callers) model() (sim.Callers, error) {
	m := sim.Callers{Patience: o.patience, Retries: o.retries, HonourRetryAfter: o.honour}
	if o.budget != 0 { // a negative one is told of when the scenario is validated
		m.Budget = sim.Budget{Share: o.budget, Burst: 10}
	}
	if o.backoff == "none" || o.backoff == "" {
		return m, nil
	}
	base, most, doubles := strings.Cut(o.backoff, "-")
	var err error
	if m.Backoff.Base, err = time.ParseDuration(base); err == nil && doubles {
		m.Backoff.Exponential, m.Backoff.FullJitter = true, true
		m.Backoff.Max, err = time.ParseDuration(most)
	}
	if err != nil {
		return m, fmt.Errorf("--backoff %q: write none, 100ms, or 100ms-2s", o.backoff)
	}
	return m, nil
}
