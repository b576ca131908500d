package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
	"github.com/spillway-dev/spillway/report/text"
)

// reportFlag adds --report to a command.
func reportFlag(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "report", "", "also write a self-contained HTML page to `FILE`")
	_ = c.MarkFlagFilename("report", "html")
}

// meta is what repeats the command that runs.
func meta() report.Meta {
	words := []string{"spillway"}
	for _, a := range os.Args[1:] {
		if strings.ContainsAny(a, " \t\n\"'$`\\*?&|;<>(){}[]#~!") || a == "" {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return report.Meta{Version: versionText(), Command: strings.Join(words, " ")}
}

// digest adds to m what identifies the configuration file.
func digest(m report.Meta, path string) report.Meta {
	if data, err := os.ReadFile(path); err == nil {
		m.ConfigDigest = report.Digest(data)
	}
	return m
}

// writeTraffic prints a traffic report as text or JSON, writes its page if one
// is asked for, and fails with exit 3 if its sums do not close.
func writeTraffic(c *cobra.Command, r *report.Report, title, page string) error {
	if asJSON(c) {
		if err := report.WriteJSON(c.OutOrStdout(), r); err != nil {
			return failed(err)
		}
	}
	return writeTrafficText(c, r, title, page)
}

// writeTrafficText is writeTraffic where the document has been written already.
func writeTrafficText(c *cobra.Command, r *report.Report, title, page string) error {
	if page != "" {
		if err := html.Traffic(title, r).WriteFile(page); err != nil {
			return failed(err)
		}
		fmt.Fprintln(c.ErrOrStderr(), "page:", page)
	}
	if !asJSON(c) {
		if err := text.Write(c.OutOrStdout(), r, text.For(os.Stdout)); err != nil {
			return failed(err)
		}
	}
	if err := r.Check(); err != nil {
		return &exit{exitCheck, fmt.Errorf("the report's sums do not close: %w", err)}
	}
	return nil
}

// share is how much of total is done; negative where total is not known.
func share(done, total time.Duration) float64 {
	if total <= 0 {
		return -1
	}
	return float64(done) / float64(total)
}
