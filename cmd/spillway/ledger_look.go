package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/desk"
)

func newLedgerLs() *cobra.Command {
	var way ledgerWay
	var limit int
	words := map[string]*string{}
	c := &cobra.Command{
		Use:   "ls",
		Short: "List budgets, gateways, and the calls whose end is not known",
		Long: `Ls lists which quotas count, which gateways write, how each budget stands, and calls: those whose
end is not known, or those that the flags say.`,
		Example: `  spillway ledger ls
  spillway ledger ls --state unknown --budget openai/concurrent
  spillway ledger ls --state all --tenant acme --limit 20 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			q := url.Values{}
			for name, value := range words { // order does not matter: Encode sorts
				if *value != "" {
					q.Set(name, *value)
				}
			}
			if c.Flags().Changed("limit") {
				q.Set("limit", strconv.Itoa(limit))
			}
			return way.ask(c, http.MethodGet, "/ledger", q, new(desk.Listing), func(ctx context.Context, l *ledger.Ledger) (ledgerAnswer, error) {
				return answered(desk.Ls(ctx, l, q))
			})
		},
	}
	way.flags(c)
	for name, help := range map[string]string{
		"state": "calls in the `STATE`: reserved, started, unknown, settled, released or all", "tenant": "calls of the tenant `NAME`",
		"owner": "calls of the gateway `NAME`", "budget": "calls that took of the budget `NAME`",
		"after": "go on after a call, `ID/ATTEMPT`", "after-budget": "go on after the budget `NAME`",
	} {
		value := new(string)
		c.Flags().StringVar(value, name, "", help)
		if name == "after-budget" {
			name = "after_budget"
		}
		words[name] = value
	}
	c.Flags().IntVar(&limit, "limit", desk.LimitDefault, fmt.Sprintf("how many of each at most, up to %d", desk.LimitMost))
	return c
}

// answered is a typed answer as any.
func answered[A ledgerAnswer](a A, err error) (ledgerAnswer, error) {
	if bad := new(desk.Bad); errors.As(err, &bad) {
		err = usage(err)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

func newLedgerShow() *cobra.Command {
	var way ledgerWay
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show every attempt of a call: what it took, what is known of it and how",
		Long: `Show prints the attempts of one call. The id is the request's, which its answer carries as
X-Request-Id, or as ls prints it.`,
		Example: `  spillway ledger show 2a7slr16u47ix
  spillway ledger show 2a7slr16u47ix --ledger sqlite:spillway.db --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			q := url.Values{"id": args}
			return way.ask(c, http.MethodGet, "/ledger/call", q, new(desk.Shown), func(ctx context.Context, l *ledger.Ledger) (ledgerAnswer, error) {
				return answered(desk.Show(ctx, l, q))
			})
		},
	}
	way.flags(c)
	return c
}

func newLedgerAudit() *cobra.Command {
	var way ledgerWay
	c := &cobra.Command{
		Use:   "audit",
		Short: "Add every counter up again from the calls",
		Long: `Audit reads every row and adds up again what budgets and lines of jobs count. It ends with 3 if one
does not agree. Gateways do the same when they start, and do not start on a ledger that does not
add up: it is a copy from two moments, or somebody else has written to it. Restore a backup.`,
		Example: `  spillway ledger audit
  spillway ledger audit --ledger sqlite:spillway.db --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			found := new(desk.Audited)
			err := way.ask(c, http.MethodGet, "/ledger/audit", nil, found, func(ctx context.Context, l *ledger.Ledger) (ledgerAnswer, error) {
				return answered(desk.Audit(ctx, l, nil))
			})
			if off := new(ledger.Mismatch); errors.As(err, &off) {
				found = desk.Found(off.Report)
				err = tellAnswer(c, found)
			}
			if err == nil && len(found.Wrong) > 0 {
				return &exit{exitCheck, errors.New("the ledger does not add up")}
			}
			return err
		},
	}
	way.flags(c)
	return c
}

func newLedgerReconcile() *cobra.Command {
	var way ledgerWay
	var known, notStarted bool
	var attempt int64
	var used, evidence string
	c := &cobra.Command{
		Use:   "reconcile ID --known|--not-started --evidence TEXT",
		Short: "End a call that is unknown, by evidence",
		Long: `Reconcile ends a call of which nobody knows what became of it, by what you have found out: that it ran
and has ended (--known), or that it never ran (--not-started). Its slot is free then, and what it had
taken is given back if it never ran. Evidence is how you know, and is kept with the call and your name.
A call that its gateway still has is not ended by anybody else.`,
		Example: `  spillway ledger reconcile 2a7slr16u47ix --known --used tokens=812 --evidence "provider's usage page, 12:04"
  spillway ledger reconcile 2a7slr16u47ix --not-started --evidence "not in the provider's list of calls of 12:00"`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case known == notStarted:
				return usage(errors.New("say one of the two: --known, it ran and has ended; --not-started, it never ran"))
			case evidence == "":
				return usage(errors.New(`say how it is known, as in --evidence "not in the provider's list of calls of 12:00"`))
			}
			q := url.Values{"id": args, "evidence": {evidence}}
			if known {
				q.Set("known", "1")
			} else {
				q.Set("notstarted", "1")
			}
			if c.Flags().Changed("attempt") {
				q.Set("attempt", strconv.FormatInt(attempt, 10))
			}
			if used != "" {
				q.Set("used", used)
			}
			return way.ask(c, http.MethodPost, "/ledger/reconcile", q, new(desk.Call), func(ctx context.Context, l *ledger.Ledger) (ledgerAnswer, error) {
				return answered(desk.Reconcile(ctx, l, q, whoami()))
			})
		},
	}
	way.flags(c)
	c.Flags().BoolVar(&known, "known", false, "it ran, and has ended")
	c.Flags().BoolVar(&notStarted, "not-started", false, "it never ran")
	c.Flags().StringVar(&used, "used", "", "with --known: what it used, `UNIT=N,...`, as in tokens=812; without it what it was counted with")
	c.Flags().StringVar(&evidence, "evidence", "", "how that is known, in words")
	c.Flags().Int64Var(&attempt, "attempt", 0, "which attempt, where several are unknown")
	return c
}
