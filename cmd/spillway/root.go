package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the release build.
var version = "devel"

// versionText is the version, or the commit the binary was built from.
func versionText() string {
	if version != "devel" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return version
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "spillway",
		Short: "Overload control: decide at the moment of submission what is served, what waits, and what is told to come back",
		Long: `Spillway stands in front of a service (serve), inside it (the Go library) or on its
calling side, and makes overload a designed state. What you simulate (sim, lab) is what
you run: the same policy code, the same file.`,
		Example: `  spillway demo                                  # see it work, in 40 seconds
  spillway serve --upstream http://127.0.0.1:9001  # protect a service, no file needed
  spillway check -c spillway.yaml                # is the file right?
  spillway plan  -c spillway.yaml                # what does it promise?
  spillway sim   -c spillway.yaml --rate 800     # try it on traffic that has not come yet`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       versionText(),
	}
	root.SetVersionTemplate("spillway {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentFlags().Bool("json", false, "one JSON document on stdout instead of text")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w\nsee: %s --help", err, c.CommandPath()))
	})
	root.AddCommand(newDemo(), newServe(), newInit(), newReload(), newOperate(), newOverride(), newExplain(), newCheck(), newPlan(), newSim(), newLab(), newLoad(), newKeys(), newJobs(), newLedger(), newVersion())
	return root
}

func asJSON(c *cobra.Command) bool {
	on, _ := c.Flags().GetBool("json")
	return on
}
