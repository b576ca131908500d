package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/report"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Example: `  spillway version
  spillway version --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON(c) {
				return failed(report.WriteJSON(c.OutOrStdout(), map[string]string{
					"version": versionText(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				}))
			}
			fmt.Fprintf(c.OutOrStdout(), "spillway %s (%s, %s/%s)\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
