package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/lab/limits"
	"github.com/spillway-dev/spillway/report/text"
)

func newLabLimits() *cobra.Command {
	var (
		common          labFlags
		o               limits.Options
		laws, scenarios string
	)
	c := &cobra.Command{
		Use:   "limits",
		Short: "A limit that finds a resource's capacity by itself: which law, how soon, at what price",
		Long: `A resource of 100 servers and log-normal calls of 20 ms changes its capacity, slows down, stops
answering, is offered too much or half of what it can do. Each law stands in front of it and
is judged by the work in flight at the resource, in means of a second.

Laws: knee (the default), aimd, vegas, gradient2, min-rtt.
Scenarios: steps, drift, slow, timeouts, bursts, routes, overload, healthy, surge.`,
		Example: `  spillway lab limits --quick
  spillway lab limits --laws knee,vegas --scenarios steps,surge
  spillway lab limits --report limits.html --raw records && spillway lab verify records`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Laws, o.Scenarios = words(laws), words(scenarios)
			plan, err := limits.Table(o, common.seed)
			if err != nil {
				return usage(err)
			}
			plan.Raw, plan.Meta = common.raw, meta()
			hear, done := labProgress("lab limits")
			d, err := limits.Run(plan, hear)
			done()
			if err != nil {
				return labFailed(err)
			}
			return common.write(c, d, &d.Results, labText{
				tables: []text.Table{{Head: limits.Head, Rows: d.Rows(), Left: []int{1}}, {Head: limits.ArmHead, Rows: d.ArmRows(), Left: []int{1}}},
				legend: limits.Legend,
			})
		},
	}
	common.flags(c)
	f := c.Flags()
	f.StringVar(&laws, "laws", "", "only these, as in knee,aimd")
	f.StringVar(&scenarios, "scenarios", "", "only these, as in steps,surge")
	f.BoolVar(&o.Quick, "quick", false, "half-hours last a minute")
	return c
}

// words are those of a list with commas; none of an empty one.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
