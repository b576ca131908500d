package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/report"
)

func newReload() *cobra.Command {
	var admin adminClient
	var dry bool
	c := &cobra.Command{
		Use:   "reload",
		Short: "Have a gateway that runs read its configuration again",
		Long: `Reload asks a running gateway to read its file again and prints what changes and what that
means for what waits and runs. The file is taken over whole or not at all: where something
is wrong with it, or a change needs a restart, what was in force stays and reload exits 2.
A changed file is taken over by itself as well (reload.watch), and on SIGHUP.`,
		Example: `  spillway reload
  spillway reload --dry               # only say what would change
  spillway reload --admin unix:/run/spillway/admin.sock`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			path := "/reload"
			if dry {
				path += "?dry=1"
			}
			var done gateway.Reloaded
			status, err := admin.ask(c.Context(), path, &done)
			if err != nil {
				return err
			}
			if asJSON(c) {
				if err := report.WriteJSON(c.OutOrStdout(), &done); err != nil {
					return failed(err)
				}
			} else {
				writeReloaded(c, &done)
			}
			switch {
			case status == http.StatusUnprocessableEntity:
				return &exit{code: exitUsage}
			case status != http.StatusOK:
				return &exit{code: exitFailed}
			}
			return nil
		},
	}
	admin.flags(c)
	c.Flags().BoolVar(&dry, "dry", false, "only say what would change")
	return c
}

func writeReloaded(c *cobra.Command, done *gateway.Reloaded) {
	out := c.OutOrStdout()
	switch {
	case done.Why == "":
		fmt.Fprintf(out, "%s: generation %d, digest %s\n", done.Outcome(), done.Generation, done.Digest)
	case len(done.Problems) > 0:
		fmt.Fprintln(c.ErrOrStderr(), done.Problems)
	default:
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", done.Outcome(), done.Why)
	}
	for _, change := range done.Changes {
		fmt.Fprintln(out, change)
	}
	for _, w := range done.Warnings {
		fmt.Fprintln(c.ErrOrStderr(), w)
	}
}

// obey has a gateway reload when its files change and on SIGHUP, and switch
// classes on the operator's signal, until the function that it returns is called.
func obey(ctx context.Context, g *gateway.Gateway) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	told := make(chan os.Signal, 1)
	signal.Notify(told, append(operatorSignal, syscall.SIGHUP)...)
	var both sync.WaitGroup
	both.Go(func() { g.Watch(ctx) })
	both.Go(func() {
		for {
			select {
			case s := <-told: // what comes of it is logged
				if s == syscall.SIGHUP {
					g.ReloadCertificates()
					g.Reload("SIGHUP")
				} else {
					g.OperateMarked("signal")
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		signal.Stop(told)
		cancel()
		both.Wait()
	}
}

// checkAgainst prints what changes from one file to another.
func checkAgainst(c *cobra.Command, to *config.Config, against string) error {
	from, err := config.Load(against)
	if err != nil {
		return usage(err)
	}
	changes := config.Diff(from, to)
	if asJSON(c) {
		return failed(report.WriteJSON(c.OutOrStdout(), map[string]any{"changes": append([]config.Change{}, changes...)}))
	}
	if len(changes) == 0 {
		fmt.Fprintln(c.OutOrStdout(), "nothing changes")
	}
	for _, change := range changes {
		fmt.Fprintln(c.OutOrStdout(), change)
	}
	return nil
}
