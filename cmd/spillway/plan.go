package main

import (
	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/report"
)

func newPlan() *cobra.Command {
	var path string
	var rate float64
	c := &cobra.Command{
		Use:   "plan",
		Short: "What a configuration promises: bounds, throughput, tipping points, each with its assumption",
		Long: `Plan does the arithmetic of a file before any traffic: how long its queues get and why,
what its upstreams sustain, from which rate on retries feed themselves, and warnings in
plain words. Every figure stands beside the assumption that it rests on.`,
		Example: `  spillway plan -c spillway.yaml
  spillway plan -c spillway.yaml --rate 450 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := loadConfig(c, path)
			if err != nil {
				return err
			}
			in := assemble.Plan(cfg)
			if c.Flags().Changed("rate") {
				for i := range in.Classes {
					in.Classes[i].Expect.Rate = rate
				}
			}
			p := plan.Make(in)
			if asJSON(c) {
				return failed(report.WriteJSON(c.OutOrStdout(), p))
			}
			return failed(plan.WriteText(c.OutOrStdout(), p))
		},
	}
	configFlag(c, &path)
	c.Flags().Float64Var(&rate, "rate", 0, "arrivals per second of each class, instead of the file's expect")
	return c
}
