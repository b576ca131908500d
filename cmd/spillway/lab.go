package main

import (
	"errors"
	"fmt"
	"io"
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
			return usage(fmt.Errorf("name a lab: fair, fallback, limits, pool, retries or strip; see: %s --help", c.CommandPath()))
		},
	}
	c.AddCommand(newLabFair(), newLabPool(), newLabFallback(), newLabRetries(), newLabStrip(), newLabLimits(), newLabVerify())
	for _, later := range []struct{ name, what, needs string }{
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

// labText is what a lab shows on a terminal between its findings and what it
// has not tested.
type labText struct {
	tables []text.Table
	legend string
	title  string // of lines
	lines  []string
}

// write prints a lab's document as JSON or as text, and writes its page if one
// is asked for.
func (o *labFlags) write(c *cobra.Command, d labDocument, r *lab.Results, show labText) error {
	if o.page != "" {
		if err := d.Page().WriteFile(o.page); err != nil {
			return failed(err)
		}
		fmt.Fprintln(c.ErrOrStderr(), "page:", o.page)
	}
	if o.raw != "" {
		fmt.Fprintf(c.ErrOrStderr(), "records: %s (check them: spillway lab verify %s)\n", o.raw, o.raw)
	}
	if asJSON(c) {
		return failed(report.WriteJSON(c.OutOrStdout(), d))
	}
	w := &labWriter{out: c.OutOrStdout(), style: text.For(os.Stdout)}
	w.lines(w.style, r.Findings...)
	for _, t := range show.tables {
		w.table(t)
	}
	w.lines(text.Options{}, show.legend)
	if len(show.lines) > 0 {
		w.lines(w.style, show.title)
		w.err = errors.Join(w.err, text.WriteFindings(w.out, show.lines, text.Options{}))
	}
	if len(r.NotYet) > 0 {
		w.table(lab.Later(r))
	}
	w.lines(text.Options{}, lab.Notes(r)...)
	fmt.Fprintln(w.out)
	return failed(errors.Join(w.err, text.WriteRepeat(w.out, &report.Report{Mode: r.Mode, Seed: r.Seed, Meta: r.Meta}, w.style)))
}

// labWriter puts a blank line between blocks and keeps the errors.
type labWriter struct {
	out   io.Writer
	style text.Options
	any   bool
	err   error
}

func (w *labWriter) gap() {
	if w.any {
		fmt.Fprintln(w.out)
	}
	w.any = true
}

func (w *labWriter) lines(style text.Options, lines ...string) {
	w.gap()
	w.err = errors.Join(w.err, text.WriteFindings(w.out, lines, style))
}

func (w *labWriter) table(t text.Table) {
	w.gap()
	w.err = errors.Join(w.err, text.WriteTable(w.out, t, w.style))
}

// labFailed is the exit of a lab that could not be played, or whose sums do
// not close.
func labFailed(err error) error {
	if errors.Is(err, lab.ErrSums) {
		return &exit{exitCheck, err}
	}
	return failed(err)
}

// labProgress says on stderr which arm is played.
func labProgress(what string) (hear func(done, total int, arm string), clear func()) {
	bar := text.NewProgress(os.Stderr, false)
	started := time.Now()
	return func(done, total int, arm string) {
		bar.Update(time.Since(started), text.State{What: what + " " + arm, Share: float64(done) / float64(total), Lag: -1})
	}, bar.Clear
}
