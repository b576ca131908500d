package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/lab/fair"
	"github.com/spillway-dev/spillway/report/text"
)

func newLabFair() *cobra.Command {
	var (
		common       labFlags
		own          = fair.Defaults()
		weights      string
		deadline     string
		more, ledger bool
	)
	c := &cobra.Command{
		Use:   "fair",
		Short: "A noisy tenant in a fixed service window: who is served under which policy",
		Long: `All jobs arrive at t = 0, in the order A, B, C: A offers --burst, B and C six each. Each
tenant may queue at most 12. A job takes one second; nothing starts at or after the
deadline. Without flags the whole table is played, beside results known beforehand; any of
the flags from --policy to --weights plays one arm of your own.`,
		Example: `  spillway lab fair
  spillway lab fair --policy fifo --burst 60
  spillway lab fair --policy wrr --weights A=3,B=1,C=1 --json
  spillway lab fair --more --report fair.html --raw records`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if ledger {
				return usage(errors.New("--ledger: not yet; it needs the ledger"))
			}
			plan := fair.WholeTable(common.seed, more)
			if ownArm(c) {
				if more {
					return usage(errors.New("--more belongs to the whole table; leave out the flags of an arm of your own"))
				}
				var err error
				if own.DeadlineS, err = parseSeconds(deadline); err != nil {
					return usage(fmt.Errorf("--deadline: %w", err))
				}
				if own.Weights, err = parseWeights(weights); err != nil {
					return usage(err)
				}
				if own.SameKey && !c.Flags().Changed("retry-copies") {
					own.RetryCopies = 2
				}
				if plan, err = fair.One(own, common.seed); err != nil {
					return usage(err)
				}
			}
			plan.Raw, plan.Meta = common.raw, meta()
			hear, done := labProgress("lab fair")
			d, err := fair.Run(plan, hear)
			done()
			if err != nil {
				return labFailed(err)
			}
			return common.write(c, d, &d.Results, labText{
				tables: []text.Table{{Head: fair.Head, Rows: d.Rows(), Left: []int{1}}}, legend: fair.Legend,
			})
		},
	}
	common.flags(c)
	f := c.Flags()
	f.StringVar(&own.Policy, "policy", own.Policy, "fifo, priority (B, C, A), rr, wrr or drr")
	f.IntVar(&own.Burst, "burst", own.Burst, "jobs that A offers, 0 to 60")
	f.IntVar(&own.Slots, "slots", own.Slots, "slots, 1 to 6")
	f.StringVar(&deadline, "deadline", "4s", "nothing starts at or after it, 1s to 10s")
	f.IntVar(&own.RetryCopies, "retry-copies", 0, "how often A offers its burst again, 0 to 2, under fresh keys")
	f.BoolVar(&own.SameKey, "same-key-retries", false, "those copies carry the keys of their first attempts")
	f.StringVar(&weights, "weights", "A=2,B=1,C=1", "shares under wrr and drr; 2:1:1 means the same")
	f.BoolVar(&more, "more", false, "also unequal costs, random arrivals, up to 100,000 tenants, weights that change")
	f.BoolVar(&ledger, "ledger", false, "the guard's fixture (not yet)")
	return c
}

// ownArm reports whether a flag of an arm of one's own was given.
func ownArm(c *cobra.Command) bool {
	for _, name := range []string{"policy", "burst", "slots", "deadline", "retry-copies", "same-key-retries", "weights"} {
		if c.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// parseSeconds reads 4s or, as the experiment is told, 4.
func parseSeconds(s string) (float64, error) {
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return n, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is no length of time; write 4s", s)
	}
	return d.Seconds(), nil
}

// parseWeights reads A=2,B=1,C=1 or 2:1:1.
func parseWeights(s string) (map[string]int, error) {
	names := []string{"A", "B", "C"}
	weights := map[string]int{}
	bad := fmt.Errorf("--weights %q: write A=2,B=1,C=1 or 2:1:1", s)
	if parts := strings.Split(s, ":"); len(parts) == len(names) {
		for i, p := range parts {
			n, err := strconv.Atoi(p)
			if err != nil {
				return nil, bad
			}
			weights[names[i]] = n
		}
		return weights, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.Atoi(value)
		if _, twice := weights[name]; !found || err != nil || twice {
			return nil, bad
		}
		weights[name] = n
	}
	for _, name := range names {
		if _, given := weights[name]; !given {
			weights[name] = 1
		}
	}
	return weights, nil
}
