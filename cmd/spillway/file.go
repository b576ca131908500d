package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config"
)

// configFlag adds -c to a command.
func configFlag(c *cobra.Command, path *string) {
	c.Flags().StringVarP(path, "config", "c", "spillway.yaml", "configuration `FILE`")
	_ = c.MarkFlagFilename("config", "yaml", "yml")
}

// loadConfig reads the file, tells its warnings to stderr, and fails with every
// problem of it on a line of its own.
func loadConfig(c *cobra.Command, path string) (*config.Config, error) {
	cfg, err := config.Load(path)
	if err != nil {
		return nil, usage(err)
	}
	for _, w := range cfg.Warnings() {
		fmt.Fprintln(c.ErrOrStderr(), w)
	}
	return cfg, nil
}
