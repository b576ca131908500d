package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/lab/verify"
	"github.com/spillway-dev/spillway/report"
)

// mismatchesShown is how many are printed; --json has all.
const mismatchesShown = 50

func newLabVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify DIR",
		Short: "Compute every figure and verdict of a lab again from its raw records",
		Long: `Verify reads what --raw has kept and computes every figure and every verdict again, with
code that shares nothing with the lab's. It prints what does not agree, and the number; it
exits 3 if there is anything. Sentences are not checked: they repeat figures in words.`,
		Example: `  spillway lab pool --raw records && spillway lab verify records
  spillway lab verify records --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("lab verify needs one folder of records; write spillway lab verify DIR"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o, err := verify.Dir(args[0])
			if err != nil {
				return failed(err)
			}
			out := c.OutOrStdout()
			if asJSON(c) {
				if err := report.WriteJSON(out, o); err != nil {
					return failed(err)
				}
			} else {
				for _, m := range o.Mismatches[:min(len(o.Mismatches), mismatchesShown)] {
					fmt.Fprintln(out, m)
				}
				if more := len(o.Mismatches) - mismatchesShown; more > 0 {
					fmt.Fprintf(out, "and %d more; --json has all\n", more)
				}
				fmt.Fprintf(out, "lab %s: %s figures and %d verdicts of %d arms from %s records: %d mismatches\n",
					o.Lab, report.FormatCount(int64(o.Figures)), o.Verdicts, o.Arms, report.FormatCount(o.Rows), len(o.Mismatches))
			}
			if len(o.Mismatches) > 0 {
				return &exit{exitCheck, nil}
			}
			return nil
		},
	}
}
