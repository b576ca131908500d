package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/report"
)

func newCheck() *cobra.Command {
	var path, against string
	var schema bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Validate a configuration file, or print its JSON Schema",
		Long: `Check reads the file and prints every problem on a line of its own: where, what is wrong,
and what would be right. It exits 2 if there is one. Warnings do not fail it. With --against
it prints what changes from that file to this one, as a reload would.`,
		Example: `  spillway check -c spillway.yaml
  spillway check -c new.yaml --against spillway.yaml
  spillway check --schema > spillway.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if schema {
				_, err := c.OutOrStdout().Write(config.Schema())
				return failed(err)
			}
			if asJSON(c) && against == "" {
				return checkJSON(c, path)
			}
			cfg, err := loadConfig(c, path)
			if err != nil {
				return err
			}
			for _, w := range tips(path, cfg) {
				fmt.Fprintln(c.ErrOrStderr(), w)
			}
			if against != "" {
				return checkAgainst(c, cfg, against)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: ok, upstreams: %d, classes: %d\n", path, len(cfg.Upstreams), len(cfg.Classes))
			return nil
		},
	}
	configFlag(c, &path)
	c.Flags().StringVar(&against, "against", "", "print what changes from this `FILE`, the one in force")
	c.Flags().BoolVar(&schema, "schema", false, "print the file format's JSON Schema and exit")
	return c
}

// checkJSON prints what check found as one document.
func checkJSON(c *cobra.Command, path string) error {
	doc := struct {
		File     string           `json:"file"`
		OK       bool             `json:"ok"`
		Errors   []*config.Error  `json:"errors"`
		Warnings []config.Warning `json:"warnings"`
	}{File: path, OK: true, Errors: []*config.Error{}, Warnings: []config.Warning{}}
	cfg, err := config.Load(path)
	var problems config.Errors
	if errors.As(err, &problems) {
		doc.OK, doc.Errors = false, problems
	}
	if cfg != nil {
		doc.Warnings = append(append(doc.Warnings, cfg.Warnings()...), tips(path, cfg)...)
	}
	if err := report.WriteJSON(c.OutOrStdout(), doc); err != nil {
		return failed(err)
	}
	if !doc.OK {
		return &exit{code: exitUsage}
	}
	return nil
}
