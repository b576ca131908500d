package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/text"
	"github.com/spillway-dev/spillway/workload"
)

func newLoad() *cobra.Command {
	var (
		offer          offered
		cfg            load.Config
		protocol, page string
		classes, file  string
	)
	c := &cobra.Command{
		Use:   "load URL",
		Short: "Offer load to a URL, open loop, and report what became of it",
		Long: `Load sends requests when they are due, whether or not earlier ones have been answered, and
measures from the moment they were due. How far it was behind its own schedule it reports as
well; a run that was too far behind to be believed exits 3. Path, headers and body are
templates: {{.N}}, {{.Tenant}}, {{.Class}}, {{.Session}}, {{.Key}}, {{.Importance}}, {{.Cost}}.`,
		Example: `  spillway load http://127.0.0.1:8080/ --rate 500 --for 30s
  spillway load 'http://127.0.0.1:8080/{{.Class}}/1' --classes checkout=2,analytics=1 --rate 100:10s,900:10s
  spillway load 'http://127.0.0.1:8080/{{.Class}}/1' --trace traffic.rec --speed 2 -H 'X-Tenant: {{.Tenant}}'
  spillway load http://127.0.0.1:8080/ --tenants acme=8,beta=1 --header 'X-Tenant: {{.Tenant}}' --honour-retry-after`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("name one URL, as in spillway load http://127.0.0.1:8080/ --rate 100; got %d", len(args)))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			cfg.URL = args[0]
			length, err := loadSource(c, &cfg, &offer, classes, file)
			if err != nil {
				return usage(err)
			}
			if cfg.Protocol, err = load.ParseProtocol(protocol); err != nil {
				return usage(err)
			}
			if err := cfg.Validate(); err != nil {
				return usage(err)
			}
			cfg.Collector = report.NewCollector(report.Options{For: length})
			bar := text.NewProgress(os.Stderr, false)
			cfg.Progress = func(p load.Progress) {
				bar.Update(p.Elapsed, text.State{
					What: "load", Share: share(p.Elapsed, length), PerS: perSecond(p.Answered, p.Elapsed),
					Lag: time.Duration(p.Lag.P99 * float64(time.Millisecond)),
				})
			}
			result, err := load.Run(c.Context(), cfg)
			bar.Clear()
			if err != nil {
				return failed(err)
			}
			return writeLoad(c, result, offer.seed, page)
		},
	}
	offer.flags(c, "100")
	reportFlag(c, &page)
	f := c.Flags()
	f.StringVar(&classes, "classes", "", "what {{.Class}} is, with shares: checkout=2,analytics=1")
	f.StringVarP(&file, "config", "c", "", "with --trace of an access log: the configuration `FILE` whose classes are {{.Class}}")
	f.StringVarP(&cfg.Method, "method", "X", "", "GET, or POST where there is a body, unless said")
	f.StringArrayVarP(&cfg.Header, "header", "H", nil, "'Name: value'; may be repeated")
	f.StringVarP(&cfg.Body, "body", "d", "", "the body")
	f.StringVar(&protocol, "protocol", "http1", "http1, or http2 (without TLS: h2c)")
	f.DurationVar(&cfg.Timeout, "timeout", 30*time.Second, "how long a caller waits, from when its request was due")
	f.IntVar(&cfg.MaxInFlight, "max-in-flight", 4096, "requests on the way at once; what would exceed it is reported as unsent")
	f.BoolVar(&cfg.HonourRetryAfter, "honour-retry-after", false, "send again when a 429 or 503 says to")
	f.IntVar(&cfg.MaxAttempts, "max-attempts", 3, "in all, with --honour-retry-after")
	f.DurationVar(&cfg.LagBound, "lag-bound", 0, "exit 3 if the p99 of being late exceeds it; 0: 1ms up to 5,000/s, 10ms above")
	return c
}

// loadSource gives the run its schedule and returns how long that is, 0 if it
// is not known.
func loadSource(c *cobra.Command, cfg *load.Config, offer *offered, classes, file string) (time.Duration, error) {
	offer.seed = max(offer.seed, 1)
	cfg.Names, cfg.Deadline = workload.NewNames(), offer.deadline
	length := offer.span(c)
	var matched *config.Config
	if file != "" {
		var err error
		if matched, err = loadConfig(c, file); err != nil {
			return 0, err
		}
	}
	recording, err := offer.replay.open(c, cfg.Names, offer.seed, matched, "")
	if err != nil {
		return 0, err
	}
	if recording != nil {
		cfg.Source = recording
		if length > 0 {
			cfg.Source = workload.Until(recording, length)
		}
		return length, nil
	}
	spec, err := offer.spec()
	if err != nil {
		return 0, err
	}
	if classes != "" {
		if spec.Classes, err = workload.ParseMix(classes); err != nil {
			return 0, err
		}
	}
	spec.Seed, spec.Stream, spec.For = offer.seed, "load/0", length
	cfg.Source, err = spec.Source(cfg.Names)
	return length, err
}

func writeLoad(c *cobra.Command, result load.Result, seed uint64, page string) error {
	about := report.About{Mode: "live", Seed: seed, Seconds: result.Length.Seconds(), Meta: meta()}
	if result.Stopped {
		about.Warnings = append(about.Warnings, "stopped before the end of the schedule")
	}
	lag := fmt.Sprintf("sent late by %.2f ms (p50), %.2f ms (p99), %.2f ms at most; bound %.2f ms", result.Lag.P50, result.Lag.P99, result.Lag.Max, result.LagBound)
	if result.LagExceeded || result.Unsent > 0 {
		about.Warnings = append(about.Warnings, fmt.Sprintf("do not believe these figures: %s; %d requests unsent", lag, result.Unsent))
	}
	r := result.Collector.Report(about)
	doc := struct {
		*report.Report
		Generator load.Figures `json:"generator"`
	}{r, result.Figures}
	if asJSON(c) {
		if err := report.WriteJSON(c.OutOrStdout(), doc); err != nil {
			return failed(err)
		}
	}
	if err := writeTrafficText(c, r, "spillway load", page); err != nil {
		return err
	}
	fmt.Fprintln(c.ErrOrStderr(), "generator:", lag)
	if result.LagExceeded {
		return &exit{exitCheck, fmt.Errorf("the generator was too far behind its schedule; use a quieter machine, a lower --rate, or a wider --lag-bound")}
	}
	return nil
}
