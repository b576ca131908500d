package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/lab/fallback"
	"github.com/spillway-dev/spillway/report/text"
)

func newLabFallback() *cobra.Command {
	var (
		common labFlags
		o      = fallback.Defaults()
		own    ownFallback
		price  priceFlags
		lives  liveFlags
		length string
	)
	c := &cobra.Command{
		Use:   "fallback",
		Short: "What a service should answer when its dependency is slow: limits, deadlines, retries, hedges, budgets",
		Long: `A service looks something up in a store of 16 slots for each request. Each arm changes how it
asks: how long it waits, whether a deadline goes along, how often it asks again and out of
which budget; the dice are the same in every arm. Arms are named by waits and rate: F is 2 ms
fixed, L a long tail, H the tail with 1 lookup in 100 that freezes for 1 to 2 s; 3 is 300/s,
4 is 450/s. Any of the flags from --rate to --budget plays one arm of your own.`,
		Example: `  spillway lab fallback
  spillway lab fallback --arms H4-fb25,H4-r2,H4-r2-b10 --tipping
  spillway lab fallback --rate 450 --waits H --timeout 25ms --retries 2 --budget 10%
  spillway lab fallback --arms H3-fb25,H4-fb25 --ap
  spillway lab fallback --live --quick
  spillway lab fallback --live --arms H3-fb25,H3-hedge --rounds 3
  spillway lab fallback --report fallback.html --raw records`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if o.Seconds, err = parseSeconds(length); err != nil {
				return usage(fmt.Errorf("--seconds: %w", err))
			}
			o.Seed = common.seed
			if own.asked(c) {
				o.Own = own.setting(&o)
			}
			if err := lives.apply(c, &o, &price); err != nil {
				return usage(err)
			}
			if err := o.Check(); err != nil {
				return usage(err)
			}
			lives.announce(c, &o)
			hear, done := labProgress("lab fallback")
			d, err := fallback.Run(o, common.raw, meta(), hear)
			done()
			if err != nil {
				return labFailed(err)
			}
			return common.write(c, d, &d.Results, labText{
				tables: slices.Concat([]text.Table{{Head: fallback.Head, Rows: d.Rows()}}, d.LiveTables(), d.PriceTables()), legend: fallback.Legend,
				title: "What plan says beforehand, what differs clearly, and one frozen lookup", lines: d.Lines(),
			})
		},
	}
	common.flags(c)
	f := c.Flags()
	f.StringSliceVar(&o.Arms, "arms", nil, "only these, separated by commas")
	f.IntVar(&o.Rounds, "rounds", o.Rounds, "rounds, each with dice of its own")
	f.StringVar(&length, "seconds", "30", "length of a round in seconds")
	f.BoolVar(&o.Tipping, "tipping", false, fmt.Sprintf("play the arms at 450/s for %d rounds and count how many tip", fallback.TippingRounds))
	own.flags(c)
	price.flags(c)
	lives.flags(c)
	c.AddCommand(newLabFallbackPart())
	return c
}

// ownFallback are the flags of an arm of one's own.
type ownFallback struct {
	rate                  float64
	waits, budget         string
	slots, retries        int
	timeout, pause, hedge time.Duration
	passDeadline          bool
}

func (w *ownFallback) flags(c *cobra.Command) {
	f := c.Flags()
	f.Float64Var(&w.rate, "rate", 300, "requests per second")
	f.StringVar(&w.waits, "waits", "H", "F (2 ms fixed), L (a long tail) or H (the tail, and freezes)")
	f.IntVar(&w.slots, "slots", 16, "slots of the store")
	f.DurationVar(&w.timeout, "timeout", 0, "limit of each try, then a stand-in; 0: waits as long as it takes")
	f.IntVar(&w.retries, "retries", 0, "retries at the most")
	f.DurationVar(&w.pause, "pause", 0, "before the first retry, doubled with each")
	f.DurationVar(&w.hedge, "hedge", 0, "after how long a second ask is sent beside the first; 0: never")
	f.BoolVar(&w.passDeadline, "pass-deadline", false, "limits go along with lookups, and the store stops at them")
	f.StringVar(&w.budget, "budget", "off", "of retries and of hedges: a share such as 10%, tokens, or off")
}

// asked reports whether a flag of an arm of one's own was given.
func (w *ownFallback) asked(c *cobra.Command) bool {
	for _, name := range []string{"rate", "waits", "slots", "timeout", "retries", "pause", "hedge", "pass-deadline", "budget"} {
		if c.Flags().Changed(name) {
			return true
		}
	}
	return false
}

func (w *ownFallback) setting(o *fallback.Options) *fallback.Setting {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	s := fallback.Base(o, "H3", "an arm of one's own")
	s.Rate, s.Waits, s.Slots, s.Retries, s.Budget, s.Travels = w.rate, w.waits, w.slots, w.retries, w.budget, w.passDeadline
	s.LimitMs, s.PauseMs, s.HedgeMs = ms(w.timeout), ms(w.pause), ms(w.hedge)
	if s.LimitMs > 0 {
		s.Otherwise = "stand_in"
	}
	return &s
}
