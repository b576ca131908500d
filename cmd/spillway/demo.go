package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/demo"
	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/text"
	"github.com/spillway-dev/spillway/workload/trace"
)

func newDemo() *cobra.Command {
	var (
		o                    demo.Options
		recording            demo.Recording
		mapping, page, trail string
	)
	c := &cobra.Command{
		Use:   "demo",
		Short: "See it work: a real service offered twice what it can do, without and with spillway, beside the prediction",
		Long: `Demo starts a small real service that can do 480 requests a second, offers it twice that over
real sockets, first without and then with the gateway in front, with one noisy tenant and a
flood of analytics beside the checkout. Beside what happened stands what the simulator had
predicted from the same file and the same requests. It takes about 35 seconds and leaves
nothing behind.`,
		Example: `  spillway demo
  spillway demo --report demo.html
  spillway demo --trace traffic.rec                       # what serve --record wrote, or an access log
  spillway demo --trace AzureLLMInferenceTrace_code.csv   # a real trace whose bursts reach 26x its mean`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if recording.Path = trail; trail != "" {
				if mapping != "" {
					m, err := trace.ParseMapping(mapping)
					if err != nil {
						return usage(err)
					}
					recording.Mapping = m
				}
				o.Recording = &recording
			}
			o.Meta = meta()
			bar, started := text.NewProgress(os.Stderr, true), time.Now()
			o.Progress = func(phase string, length time.Duration, p load.Progress) {
				bar.Update(time.Since(started), text.State{
					What: phase, Share: share(p.Elapsed, length),
					PerS: perSecond(p.Answered, p.Elapsed), Lag: time.Duration(p.Lag.P99 * float64(time.Millisecond)),
				})
			}
			r, err := demo.Run(c.Context(), o)
			bar.Clear()
			if err != nil {
				return failed(err)
			}
			return writeDemo(c, r, page)
		},
	}
	f := c.Flags()
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the load")
	f.DurationVar(&o.Without, "without", 0, "length of the run without spillway; 0: 12s")
	f.DurationVar(&o.With, "with", 0, "length of the run with spillway; 0: 20s")
	f.StringVar(&trail, "trace", "", traceHelp)
	f.StringVar(&recording.Format, "format", "auto", formatHelp)
	f.StringVar(&mapping, "map", "", mapHelp)
	f.Float64Var(&recording.Speed, "speed", 0, "its time passes so many times as fast; 0: until its mean is 60 % of capacity")
	f.Float64Var(&recording.Scale, "scale", 1, "so many times as many requests as recorded")
	reportFlag(c, &page)
	return c
}

func perSecond(n int64, elapsed time.Duration) float64 {
	if elapsed <= 0 {
		return 0
	}
	return float64(n) / elapsed.Seconds()
}

func writeDemo(c *cobra.Command, r *demo.Result, page string) error {
	if page != "" {
		if err := r.Page().WriteFile(page); err != nil {
			return failed(err)
		}
	}
	if asJSON(c) {
		return failed(report.WriteJSON(c.OutOrStdout(), map[string]any{
			"without": r.Without, "with": r.With,
			"predicted_without": r.PredictedWithout, "predicted_with": r.PredictedWith,
			"differences": r.Differences(), "generator": r.Lag,
		}))
	}
	return failed(r.WriteText(c.OutOrStdout(), text.For(os.Stdout)))
}
