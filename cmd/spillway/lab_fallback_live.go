package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/lab/fallback"
	"github.com/spillway-dev/spillway/lab/fallback/live"
)

// liveFlags have the rounds played on this machine.
type liveFlags struct{ live, quick bool }

func (l *liveFlags) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&l.live, "live", false, "on this machine: store, service and tester as three processes over TCP; by default the arms at 300/s, one round")
	f.BoolVar(&l.quick, "quick", false, "with --live: wait, limit, retry and hedge at 200/s for 10 s each, with what stand-ins cost, in a minute")
}

// apply puts the flags into the options, prices included.
func (l *liveFlags) apply(c *cobra.Command, o *fallback.Options, price *priceFlags) error {
	if l.quick && !l.live {
		return errors.New("--quick is for --live: in virtual time all arms are quick")
	}
	if l.live {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("--live: where this program lies is not known: %w", err)
		}
		o.Live = &fallback.LiveOptions{Context: c.Context(), Quick: l.quick, Start: func(part string) *exec.Cmd {
			return exec.Command(self, "lab", "fallback", partCommand, part)
		}}
		if !c.Flags().Changed("rounds") {
			o.Rounds = 1
		}
	}
	if l.quick {
		if !c.Flags().Changed("seconds") {
			o.Seconds = fallback.QuickSeconds
		}
		price.ap = true
	}
	o.AP = price.options(o.Seed)
	return nil
}

// announce says on stderr how long it will take.
func (l *liveFlags) announce(c *cobra.Command, o *fallback.Options) {
	if l.live {
		fmt.Fprintf(c.ErrOrStderr(), "lab fallback: live, about %v; what else runs on this machine meanwhile is measured too\n", o.Takes().Round(time.Second))
	}
}

const partCommand = "part"

// newLabFallbackPart is what --live starts this program as.
func newLabFallbackPart() *cobra.Command {
	return &cobra.Command{
		Use:   partCommand + " store|service|tester",
		Short: "One of the three processes of a live round, started by lab fallback --live",
		Long: `Reads on stdin what it is told, answers on stdout, and ends when stdin is closed. It is not
for people: see lab fallback --live.`,
		Example: `  spillway lab fallback part store    # as lab fallback --live runs it, at the other end of its pipes`,
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return failed(live.Part(args[0], c.InOrStdin(), c.OutOrStdout()))
		},
	}
}
