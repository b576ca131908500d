package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/lab/retries"
	"github.com/spillway-dev/spillway/report/text"
)

func newLabRetries() *cobra.Command {
	var (
		common labFlags
		o      = retries.Defaults()
		loads  string
	)
	c := &cobra.Command{
		Use:   "retries",
		Short: "An outage that retries keep alive: which loads come back under which policy",
		Long: `A server of 300 requests a second stands still for ten seconds, and its clients try again.
The table has a row for each policy and a column for each load; each cell is played with
several seeds. The arithmetic says that a load above 300/(1+retries) never comes back.`,
		Example: `  spillway lab retries
  spillway lab retries --loads 280,297 --rounds 20
  spillway lab retries --report retries.html --raw records && spillway lab verify records`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if o.Loads, err = parseLoads(loads); err != nil {
				return usage(err)
			}
			plan, err := retries.Table(o, common.seed)
			if err != nil {
				return usage(err)
			}
			plan.Raw, plan.Meta = common.raw, meta()
			hear, done := labProgress("lab retries")
			d, err := retries.Run(plan, hear)
			done()
			if err != nil {
				return labFailed(err)
			}
			return common.write(c, d, &d.Results, labText{
				tables: []text.Table{{Head: d.Head(), Rows: d.Rows(), Left: []int{1}}}, legend: retries.Legend,
			})
		},
	}
	common.flags(c)
	f := c.Flags()
	f.IntVar(&o.Rounds, "rounds", o.Rounds, "how often each cell is played, with a seed of its own, 1 to 1000")
	f.IntVar(&o.OutFor, "outage", o.OutFor, "how many seconds the server stands still, 0 to 100")
	f.StringVar(&loads, "loads", "120,160,240,280,295", "requests a second, in rising order")
	return c
}

func parseLoads(s string) ([]float64, error) {
	var loads []float64
	for _, word := range strings.Split(s, ",") {
		l, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil {
			return nil, fmt.Errorf("--loads: %q is no number; write them like 160,280", word)
		}
		loads = append(loads, l)
	}
	return loads, nil
}
