package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
	"github.com/spillway-dev/spillway/report/text"
)

func newLab() *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Experiments in virtual time, with predictions written beforehand and records to check them by",
		Long: `Each lab asks one question, plays its arms on the policy code that serve runs, and judges
predictions that were written before the first round. With --raw it keeps a record of every
request; lab verify recomputes every figure and verdict from those alone.`,
		Example: `  spillway lab fair                              # a noisy tenant in a fixed service window
  spillway lab pool --report pool.html           # where a worker pool stops taking work in
  spillway lab fair --raw records && spillway lab verify records`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usage(fmt.Errorf("name a lab: fair or pool; see: %s --help", c.CommandPath()))
		},
	}
	c.AddCommand(newLabFair(), newLabPool(), newLabVerify())
	for _, later := range []struct{ name, what, needs string }{
		{"fallback", "What should a service answer when its dependency is slow", "ladders and call policies"},
		{"strip", "Which keystrokes get the cheaper list when load doubles", "ladders and the shed law"},
		{"retries", "When retries keep a failure alive", "call policies"},
		{"limits", "How a limit finds the capacity by itself", "adaptive limits"},
		{"serve", "The labs as pages", "the pages"},
		{"export", "The labs' pages in one file", "the pages"},
	} {
		c.AddCommand(newLabLater(later.name, later.what, later.needs))
	}
	return c
}

// newLabLater stands where a lab of a later capability will be.
func newLabLater(name, what, needs string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              what + " (not yet)",
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			for _, a := range args {
				if a == "--help" || a == "-h" {
					return c.Help()
				}
			}
			return usage(fmt.Errorf("%s: not yet; it needs %s", c.CommandPath(), needs))
		},
	}
}

// labFlags are the flags that all labs have.
type labFlags struct {
	page, raw string
	seed      uint64
}

func (o *labFlags) flags(c *cobra.Command) {
	reportFlag(c, &o.page)
	f := c.Flags()
	f.StringVar(&o.raw, "raw", "", "keep a record of every request in the new folder `DIR`, for lab verify")
	f.Uint64Var(&o.seed, "seed", 1, "seed of every draw")
	_ = c.MarkFlagDirname("raw")
}

// labDocument is what a lab has found.
type labDocument interface {
	Page() *html.Page
}

// write prints a lab's document as JSON or as findings, tables and what was not
// tested, and writes its page if one is asked for.
func (o *labFlags) write(c *cobra.Command, d labDocument, r *lab.Results, tables ...text.Table) error {
	if o.page != "" {
		if err := d.Page().WriteFile(o.page); err != nil {
			return failed(err)
		}
		fmt.Fprintln(c.ErrOrStderr(), "page:", o.page)
	}
	if o.raw != "" {
		fmt.Fprintf(c.ErrOrStderr(), "records: %s (check them: spillway lab verify %s)\n", o.raw, o.raw)
	}
	out := c.OutOrStdout()
	if asJSON(c) {
		return failed(report.WriteJSON(out, d))
	}
	style := text.For(os.Stdout)
	if err := text.WriteFindings(out, r.Findings, style); err != nil {
		return failed(err)
	}
	for _, t := range append(tables, lab.Tables(r)...) {
		fmt.Fprintln(out)
		if err := text.WriteTable(out, t, style); err != nil {
			return failed(err)
		}
	}
	fmt.Fprintln(out)
	if err := text.WriteFindings(out, lab.Notes(r), text.Options{}); err != nil {
		return failed(err)
	}
	fmt.Fprintln(out)
	return failed(text.WriteRepeat(out, &report.Report{Mode: r.Mode, Seed: r.Seed, Meta: r.Meta}, style))
}

// labProgress says on stderr which arm is played.
func labProgress(what string) (hear func(done, total int, arm string), clear func()) {
	bar := text.NewProgress(os.Stderr, false)
	started := time.Now()
	return func(done, total int, arm string) {
		bar.Update(time.Since(started), text.State{What: what + " " + arm, Share: float64(done) / float64(total), Lag: -1})
	}, bar.Clear
}
