package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/sqlite"
	"github.com/spillway-dev/spillway/ledger/stores"
	"github.com/spillway-dev/spillway/report"
)

func newLedger() *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Look at what is reserved, and end what is unknown by evidence",
		Long: `Ledger shows what calls have been promised of which budgets, and ends by evidence what nobody
knows the end of. While a gateway runs, it is asked through its admin listener (--admin); while
none does, --ledger or -c names the store itself. Nothing here deletes a reservation: a slot that
is freed without evidence is one that a call may still be using. See docs/ledger.md.`,
		Example: `  spillway ledger ls --state unknown
  spillway ledger show 2a7slr16u47ix
  spillway ledger reconcile 2a7slr16u47ix --not-started --evidence "not in the provider's list of calls of 12:00"
  spillway ledger audit --ledger sqlite:spillway.db`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newLedgerLs(), newLedgerShow(), newLedgerAudit(), newLedgerReconcile())
	return c
}

// ledgerWay is how a command reaches a ledger.
type ledgerWay struct {
	admin     adminClient
	url, file string
}

func (w *ledgerWay) flags(c *cobra.Command) {
	w.admin.flags(c)
	c.Flags().StringVar(&w.url, "ledger", "", "work on the store itself, while no gateway has it open: sqlite:FILE or a postgres `URL`; for one with a password use -c")
	c.Flags().StringVarP(&w.file, "config", "c", "", "the same, on the ledger that the configuration `FILE` names")
	_ = c.MarkFlagFilename("config", "yaml", "yml")
	c.MarkFlagsMutuallyExclusive("ledger", "config")
}

// direct reports whether the store itself is meant.
func (w *ledgerWay) direct() bool { return w.url != "" || w.file != "" }

// open opens the store itself.
func (w *ledgerWay) open(ctx context.Context) (*ledger.Ledger, error) {
	where := w.url
	if w.file != "" {
		cfg, err := config.Load(w.file)
		switch {
		case err != nil:
			return nil, usage(err)
		case cfg.Ledger.URL.IsZero():
			return nil, usage(fmt.Errorf("%s: it has no ledger", w.file))
		}
		where = cfg.Ledger.URL.Value()
	}
	if file, ok := strings.CutPrefix(where, "sqlite:"); ok { // which would be made
		if _, err := os.Stat(file); err != nil {
			return nil, failed(fmt.Errorf("%s: %w; name the ledger of a gateway", file, errors.Unwrap(err)))
		}
	}
	s, err := stores.Open(ctx, where)
	switch {
	case errors.Is(err, sqlite.ErrInUse):
		return nil, failed(fmt.Errorf("%w: leave --ledger and -c out, and it is asked through its admin listener", err))
	case err != nil:
		return nil, failed(err)
	}
	l, err := ledger.Open(ctx, s, fmt.Sprintf("command-%d-%s", os.Getpid(), rand.Text()[:8]))
	if err != nil {
		return nil, errors.Join(failed(err), s.Close())
	}
	return l, nil
}

// ledgerAnswer is what a ledger is asked for: a document that can be written as text.
type ledgerAnswer interface {
	WriteText(io.Writer) error
}

// ask puts a question to the ledger: post and path to a gateway, or do to the store
// itself. doc is a pointer to what the gateway's answer is read into.
func (w *ledgerWay) ask(c *cobra.Command, method, path string, q url.Values, doc ledgerAnswer, do func(context.Context, *ledger.Ledger) (ledgerAnswer, error)) error {
	if w.direct() {
		l, err := w.open(c.Context())
		if err != nil {
			return err
		}
		found, err := do(c.Context(), l)
		if err = errors.Join(err, l.Close()); err != nil {
			return failed(err)
		}
		return tellAnswer(c, found)
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	if _, err := w.admin.do(c.Context(), method, path, doc); err != nil {
		return err
	}
	return tellAnswer(c, doc)
}

func tellAnswer(c *cobra.Command, doc ledgerAnswer) error {
	if asJSON(c) {
		return failed(report.WriteJSON(c.OutOrStdout(), doc))
	}
	return failed(doc.WriteText(c.OutOrStdout()))
}
