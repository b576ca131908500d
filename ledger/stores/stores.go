package stores

import (
	"context"
	"errors"
	"strings"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/postgres"
	"github.com/spillway-dev/spillway/ledger/sqlite"
)

// Open opens sqlite:FILE or postgres://user@host:5432/database. Errors say what is wrong
// and what to do, and hold no password; a file that another process has open is
// sqlite.ErrInUse.
func Open(ctx context.Context, url string) (ledger.Store, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		if rest != "" {
			return sqlite.Open(rest)
		}
	case "postgres", "postgresql":
		return postgres.Open(ctx, url)
	}
	return nil, errors.New("a ledger is sqlite:FILE or postgres://user@host:5432/database")
}
