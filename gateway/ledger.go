package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/postgres"
	"github.com/spillway-dev/spillway/ledger/sqlite"
)

// openLedger opens the ledger that is configured, under a name that is this process's
// alone.
func openLedger(ctx context.Context, cfg config.Ledger) (*ledger.Ledger, error) {
	s, err := openStore(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("the ledger: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	l, err := ledger.Open(ctx, s, fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:8]))
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("the ledger: %w", err)
	}
	return l, nil
}

func openStore(ctx context.Context, cfg config.Ledger) (ledger.Store, error) {
	if file, ok := cfg.SQLite(); ok {
		return sqlite.Open(file)
	}
	return postgres.Open(ctx, cfg.URL.Value())
}
