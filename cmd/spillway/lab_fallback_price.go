package main

import (
	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/lab/fallback/ap"
)

// priceFlags ask what stand-ins cost.
type priceFlags struct {
	ap     bool
	events string
}

func (p *priceFlags) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&p.ap, "ap", false, "also what stand-ins cost: average precision of a ranking of customers")
	f.StringVar(&p.events, "events", "", "purchases to rank by, in the `FILE` (customer, time, amount; gzipped or not) instead of those of a drawn shop; implies --ap")
	_ = c.MarkFlagFilename("events", "csv", "txt", "gz")
}

// options are nil where nothing was asked.
func (p *priceFlags) options(seed uint64) *ap.Options {
	if !p.ap && p.events == "" {
		return nil
	}
	o := ap.Defaults()
	o.Seed, o.Events = seed, p.events
	return &o
}
