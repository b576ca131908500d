package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/lab/pool"
	"github.com/spillway-dev/spillway/report/text"
	"github.com/spillway-dev/spillway/workload"
)

func newLabPool() *cobra.Command {
	var (
		common  labFlags
		o       = pool.Defaults()
		service string
		length  string
	)
	c := &cobra.Command{
		Use:   "pool",
		Short: "Where a worker pool stops taking work in: bounds, classes, full rooms, deadlines, order, producers",
		Long: `A pool of 40 workers and work of 100 ms can do 400 tasks/s; it is offered 800. Each arm
changes one thing: how long the queue may be, whose it is, what becomes of those who find no
place, whether deadlines are looked at, who goes first, what refused producers do. The plan's
arithmetic stands beside it.`,
		Example: `  spillway lab pool
  spillway lab pool --arms bound-none,bound-last-year,bound-derived
  spillway lab pool --rate 2000 --slots 100 --budget 250ms --service exp:50ms --json
  spillway lab pool --report pool.html --raw records`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if o.Service, err = workload.ParseService(service); err != nil {
				return usage(err)
			}
			if o.Seconds, err = parseSeconds(length); err != nil {
				return usage(fmt.Errorf("--seconds: %w", err))
			}
			o.Seed = common.seed
			if err := o.Check(); err != nil {
				return usage(err)
			}
			hear, done := labProgress("lab pool")
			d, err := pool.Run(o, common.raw, meta(), hear)
			done()
			if err != nil {
				return labFailed(err)
			}
			return common.write(c, d, &d.Results, labText{
				tables: []text.Table{{Head: pool.Head, Rows: d.Rows()}}, legend: pool.Legend,
				title: "What plan says beforehand, with what it takes for granted", lines: d.PlanLines(),
			})
		},
	}
	common.flags(c)
	f := c.Flags()
	f.StringSliceVar(&o.Arms, "arms", nil, "only these, separated by commas")
	f.Float64Var(&o.Rate, "rate", o.Rate, "tasks per second that are offered")
	f.IntVar(&o.Slots, "slots", o.Slots, "workers")
	f.DurationVar(&o.Budget, "budget", 300*time.Millisecond, "what p99 may be, wait and service together")
	f.StringVar(&service, "service", "100ms", "how long work takes: 100ms, exp:100ms, lognormal:mean=100ms,p99=400ms")
	f.StringVar(&length, "seconds", "30", "length of the offered load in seconds")
	return c
}
