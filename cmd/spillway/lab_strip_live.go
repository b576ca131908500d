package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/lab/strip"
	"github.com/spillway-dev/spillway/lab/strip/live"
)

// liveStripFlags have the arms played on this machine.
type liveStripFlags struct{ live, quick bool }

func (l *liveStripFlags) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&l.live, "live", false, fmt.Sprintf("on this machine: scorer, gateway and tester as three processes over HTTP, each arm beside itself in virtual time; by default %d slots at the first load", strip.LiveSlots))
	f.BoolVar(&l.quick, "quick", false, fmt.Sprintf("with --live: %v and the way back, judged for %d s each, in less than 90 s", strip.QuickPolicies, strip.QuickSeconds))
}

// apply puts the flags into the options.
func (l *liveStripFlags) apply(c *cobra.Command, o *strip.Options) error {
	if l.quick && !l.live {
		return errors.New("--quick is for --live: in virtual time all arms are quick")
	}
	if !l.live {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("--live: where this program lies is not known: %w", err)
	}
	o.Live = &strip.LiveOptions{Context: c.Context(), Quick: l.quick, Start: func(part string) *exec.Cmd {
		return exec.Command(self, "lab", "strip", partCommand, part)
	}}
	said := c.Flags().Changed
	if !said("slots") {
		o.Slots = strip.LiveSlots
	}
	if !said("load") {
		o.Loads = o.Loads[:1]
	}
	if l.quick && !said("seconds") {
		o.Seconds = strip.QuickSeconds
	}
	if l.quick && !said("policies") {
		o.Policies = strip.QuickPolicies
	}
	return nil
}

// announce says on stderr how long it will take.
func (l *liveStripFlags) announce(c *cobra.Command, o *strip.Options) {
	if l.live {
		fmt.Fprintf(c.ErrOrStderr(), "lab strip: live, about %v; what else runs on this machine meanwhile is measured too\n", o.Takes().Round(time.Second))
	}
}

// newLabStripPart is what --live starts this program as.
func newLabStripPart() *cobra.Command {
	return &cobra.Command{
		Use:   partCommand + " scorer|gateway|tester",
		Short: "One of the three processes of a live round, started by lab strip --live",
		Long: `Reads on stdin what it is told, answers on stdout, and ends when stdin is closed. It is not
for people: see lab strip --live.`,
		Example: `  spillway lab strip part scorer    # as lab strip --live runs it, at the other end of its pipes`,
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return failed(live.Part(args[0], c.InOrStdin(), c.OutOrStdout()))
		},
	}
}
