package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/desk"
)

// ledgerPaths adds what is asked of the ledger to the admin listener's paths.
func (g *Gateway) ledgerPaths(mux *http.ServeMux) {
	mux.HandleFunc("GET /ledger", func(w http.ResponseWriter, r *http.Request) {
		answerOf(g, w, r, func(ctx context.Context, l *ledger.Ledger) (*desk.Listing, error) {
			return desk.Ls(ctx, l, r.URL.Query())
		})
	})
	mux.HandleFunc("GET /ledger/call", func(w http.ResponseWriter, r *http.Request) {
		answerOf(g, w, r, func(ctx context.Context, l *ledger.Ledger) (*desk.Shown, error) {
			return desk.Show(ctx, l, r.URL.Query())
		})
	})
	mux.HandleFunc("GET /ledger/audit", func(w http.ResponseWriter, r *http.Request) {
		answerOf(g, w, r, func(ctx context.Context, l *ledger.Ledger) (*desk.Audited, error) {
			return desk.Audit(ctx, l, r.URL.Query())
		})
	})
	mux.HandleFunc("POST /ledger/reconcile", g.byOperator(func(w http.ResponseWriter, r *http.Request, by string) {
		answerOf(g, w, r, func(ctx context.Context, l *ledger.Ledger) (*desk.Call, error) {
			c, err := desk.Reconcile(ctx, l, r.URL.Query(), by)
			if err == nil {
				g.log.Warn("reconciled", "call", c.ID, "attempt", c.Attempt, "state", c.State, "evidence", c.Evidence)
			}
			return c, err
		})
	}))
}

// answerOf answers a question about the ledger.
func answerOf[A interface{ WriteText(io.Writer) error }](g *Gateway, w http.ResponseWriter, r *http.Request, do func(context.Context, *ledger.Ledger) (A, error)) {
	if g.ledger == nil {
		http.Error(w, "this gateway has no ledger", http.StatusNotFound)
		return
	}
	doc, err := do(r.Context(), g.ledger)
	bad := new(desk.Bad)
	switch {
	case errors.As(err, &bad):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, desk.ErrNone):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errors.Is(err, desk.ErrNotUnknown):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		reply(w, r, http.StatusOK, doc, func(w io.Writer) { doc.WriteText(w) })
	}
}
