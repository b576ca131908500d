package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/report/text"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
)

func newSim() *cobra.Command {
	var (
		load       offered
		who        callers
		t          trial.Trial
		path, page string
		class      string
		service    string
		conditions string
		mode       string
	)
	c := &cobra.Command{
		Use:   "sim",
		Short: "Run a configuration in virtual time against a modelled service",
		Long: `Sim runs the very policy code that serve runs, from the same file, in virtual time: a
minute in milliseconds. The service behind it is a model: so many slots, a law of service
times, slow-downs and outages at given times. The same seed gives the same bytes.`,
		Example: `  spillway sim -c spillway.yaml --rate 800 --for 60s
  spillway sim -c spillway.yaml --class checkout --rate 100:60s,900:30s,100:60s --report out.html
  spillway sim -c spillway.yaml --trace traffic.rec               # what serve --record wrote
  spillway sim -c spillway.yaml --trace access.log.gz --speed 10  # ten times yesterday
  spillway sim -c spillway.yaml --trace traffic.rec --mode enforce # what shadow would have done
  spillway sim -c spillway.yaml --trace requests.csv.gz --scale 4 --service lognormal:mean=100ms,p99=400ms
  spillway sim -c spillway.yaml --rate 380 --slow outage@20s+10s --retries 2 --retry-budget 0.1`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if t.Config, err = loadConfig(c, path); err != nil {
				return err
			}
			if mode != "" {
				m, err := config.ParseMode(mode)
				if err != nil {
					return usage(fmt.Errorf("--mode %q: write off, shadow, a share such as 10%%, or enforce", mode))
				}
				t.Config = t.Config.WithMode(m)
			}
			if t.Service, err = workload.ParseService(service); err != nil {
				return usage(err)
			}
			if t.Conditions, err = workload.ParseConditions(conditions); err != nil {
				return usage(err)
			}
			one := trial.Load{Class: class}
			if one.Spec, err = load.spec(); err != nil {
				return usage(err)
			}
			if one.Callers, err = who.model(); err != nil {
				return usage(err)
			}
			t.Names, t.Seed, t.For = workload.NewNames(), load.seed, load.span(c)
			recording, err := load.replay.open(c, t.Names, load.seed, t.Config, class)
			if err != nil {
				return usage(err)
			}
			if recording != nil {
				defer recording.Close()
				one.Source, one.Timed = recording, recording.Timed()
				one.Classed = class == "" && recording.Classed()
			}
			warnAlike(c, t.Config, recording)
			t.Loads, t.Meta = []trial.Load{one}, digest(meta(), path)
			s, err := t.Scenario()
			if err != nil {
				return usage(err)
			}
			if err := s.Validate(); err != nil {
				return usage(err)
			}
			bar := text.NewProgress(os.Stderr, false)
			started := time.Now()
			result, err := sim.Run(s, func(done, total time.Duration) {
				bar.Update(time.Since(started), text.State{What: "sim", Share: share(done, total), Lag: -1})
			})
			bar.Clear()
			if err != nil {
				return failed(err)
			}
			warnMissing(c, recording)
			return writeTraffic(c, result.Report, "spillway sim", page)
		},
	}
	configFlag(c, &path)
	load.flags(c, "100")
	who.flags(c)
	reportFlag(c, &page)
	f := c.Flags()
	f.StringVar(&class, "class", "", "whose requests they are; unless said the recording's own, or the first class")
	f.StringVar(&service, "service", "trace", "service times instead of the file's: 100ms, exp:100ms, lognormal:mean=100ms,p99=400ms, mix:0.99*3ms,0.01*1.5s, or trace")
	f.StringVar(&conditions, "slow", "", "when the service is slow or out: x3@10s+5s,outage@20s+10s")
	f.StringVar(&mode, "mode", "", "every class's mode instead of the file's: off, shadow, 10%, enforce")
	f.BoolVar(&t.Unprotected, "unprotected", false, "the same service without spillway in front")
	f.BoolVar(&t.NoticesCancel, "notices-cancel", false, "the service stops work whose caller was answered")
	f.Float64Var(&t.HitShare, "hit-share", 0, "of how many requests without a key a rung cache has an earlier answer: 0.6 for 60 %; recordings name no keys")
	f.DurationVar(&t.Overhead, "overhead", 0, "what network and adapters add to every answer")
	f.DurationVar(&t.WarmUp, "warm-up", 0, "not counted, at the start")
	return c
}
