package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/lab/strip"
	"github.com/spillway-dev/spillway/report/text"
)

func newLabStrip() *cobra.Command {
	var (
		common labFlags
		o      = strip.Defaults()
		lives  liveStripFlags
		loads  string
		length string
	)
	c := &cobra.Command{
		Use:   "strip",
		Short: "Which keystrokes get the cheaper list when a keyboard's load doubles",
		Long: `A keyboard's suggestion strip is asked at every keystroke. Its personalised scorer has 64 slots
and takes 8 ms: 8,000 keystrokes a second. What comes beyond that takes a frequency list, or
everybody is late. Each policy says which keystrokes those are; the text that is typed is
real or the bundled one, and so are the suggestions that are counted as hits or misses.`,
		Example: `  spillway lab strip
  spillway lab strip --text texts --seeds 3
  spillway lab strip --policies random,prefix,gap --load 1.5 --table-only
  spillway lab strip --live --quick
  spillway lab strip --live --seeds 3 --text texts
  spillway lab strip --report strip.html --raw records && spillway lab verify records`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if o.Loads, err = parseLoads(loads); err != nil {
				return usage(fmt.Errorf("--load: %w", err))
			}
			if o.Seconds, err = parseSeconds(length); err != nil {
				return usage(fmt.Errorf("--seconds: %w", err))
			}
			o.Seed = common.seed
			if err := lives.apply(c, &o); err != nil {
				return usage(err)
			}
			if err := o.Validate(); err != nil {
				return usage(err)
			}
			lives.announce(c, &o)
			hear, done := labProgress("lab strip")
			d, err := strip.Run(o, common.raw, meta(), hear)
			done()
			if err != nil {
				return labFailed(err)
			}
			tables := []text.Table{{Head: strip.Head, Rows: d.Rows(), Left: []int{1}}}
			if rows := d.FurtherRows(); len(rows) > 0 {
				tables = append(tables, text.Table{Title: "Further arms", Head: strip.FurtherHead, Rows: rows, Left: []int{1}})
			}
			return common.write(c, d, &d.Results, labText{tables: append(tables, d.LiveTables()...), legend: strip.Legend})
		},
	}
	common.flags(c)
	f := c.Flags()
	f.StringSliceVar(&o.Policies, "policies", o.Policies, "only these, of "+strings.Join(o.Policies, ", "))
	f.StringVar(&loads, "load", "1.5,2,5", "loads, as multiples of what the scorer can do; the further arms are played at the first")
	f.IntVar(&o.Seeds, "seeds", o.Seeds, "how often each is played, with a seed of its own from --seed on, 1 to 1000")
	f.IntVar(&o.Slots, "slots", o.Slots, "slots of the scorer, 1 to 1024")
	f.DurationVar(&o.Service, "service", o.Service, "what it takes for a keystroke")
	f.DurationVar(&o.Deadline, "deadline", o.Deadline, "how long a strip is of use")
	f.StringVar(&length, "seconds", "10", "how long is judged")
	f.StringVar(&o.Text, "text", "", "`FOLDER` that holds typing/sms_tokens.jsonl.gz and words/en_50k.txt; without it the bundled text is typed")
	f.BoolVar(&o.Only, "table-only", false, "leave out the arms beside the table: slow and failing scorer, second model, the way back, slots")
	_ = c.MarkFlagDirname("text")
	lives.flags(c)
	c.AddCommand(newLabStripPart())
	return c
}
