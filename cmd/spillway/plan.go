package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/report"
)

func newPlan() *cobra.Command {
	var path, page string
	var rate float64
	var outage time.Duration
	var measured measurements
	falsely := percentage(plan.DefaultFalseTimeouts)
	c := &cobra.Command{
		Use:   "plan",
		Short: "What a configuration promises: bounds, throughput, tipping points, each with its assumption",
		Long: `Plan does the arithmetic of a file before any traffic: how long its queues get and why,
what its upstreams sustain, from which rate on retries feed themselves, how long after an
outage all is well again, which timeout cuts off no more calls than you accept, and warnings
in plain words. Every figure stands beside its formula and the assumption that it rests on.`,
		Example: `  spillway plan -c spillway.yaml
  spillway plan -c spillway.yaml --rate 450 --json
  spillway plan -c spillway.yaml --rate 450 --outage 1m              # what if it stands still for a minute?
  spillway plan -c spillway.yaml --rate 450 --report plan.html       # with a plot of where the queue goes
  spillway plan -c spillway.yaml --latency traffic.rec               # timeouts from what serve --record wrote
  spillway plan -c spillway.yaml --latency times.txt --class score --false-timeouts 1%`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := loadConfig(c, path)
			if err != nil {
				return err
			}
			in := assemble.Plan(cfg)
			in.FalseTimeouts = float64(falsely)
			if c.Flags().Changed("outage") && (outage <= 0 || outage > 24*time.Hour) {
				return usage(fmt.Errorf("--outage %v: above 0 and up to 24h", outage))
			}
			in.Outage = outage
			if err := measured.read(c, cfg, &in); err != nil {
				return usage(err)
			}
			if c.Flags().Changed("rate") {
				for i := range in.Classes {
					in.Classes[i].Expect.Rate = rate
				}
			}
			p := plan.Make(in)
			if page != "" {
				if err := planPage(p, digest(meta(), path)).WriteFile(page); err != nil {
					return failed(err)
				}
				fmt.Fprintln(c.ErrOrStderr(), "page:", page)
			}
			if asJSON(c) {
				return failed(report.WriteJSON(c.OutOrStdout(), p))
			}
			return failed(plan.WriteText(c.OutOrStdout(), p))
		},
	}
	configFlag(c, &path)
	c.Flags().Float64Var(&rate, "rate", 0, "arrivals per second of each class, instead of the file's expect")
	c.Flags().DurationVar(&outage, "outage", plan.DefaultOutage, "how long an upstream answers nothing, for what recovery takes")
	c.Flags().Var(&falsely, "false-timeouts", "the share of calls that a proposed timeout may cut off although they would be answered")
	measured.flags(c)
	reportFlag(c, &page)
	return c
}
