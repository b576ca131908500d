package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// version is the one of the tables that this program writes.
const version = 4

// migrations bring the tables from each version to the next.
var migrations = [version]string{`
CREATE TABLE spillway_budgets (
  name text PRIMARY KEY, unit bigint NOT NULL, most bigint NOT NULL, refill bigint NOT NULL, every bigint NOT NULL,
  period bigint NOT NULL, zone text NOT NULL, refund boolean NOT NULL, remaining bigint NOT NULL, part bigint NOT NULL,
  held bigint NOT NULL CHECK (held >= 0), spent bigint NOT NULL, at bigint NOT NULL, frees bigint NOT NULL,
  swept bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE spillway_calls (
  id text NOT NULL, attempt bigint NOT NULL, state bigint NOT NULL, tenant text NOT NULL, owner text NOT NULL,
  taken text NOT NULL, used text NOT NULL, budgets text NOT NULL, charged text NOT NULL,
  run bigint NOT NULL, wall bigint NOT NULL, evidence text NOT NULL, PRIMARY KEY (id, attempt)
);
CREATE INDEX spillway_calls_open ON spillway_calls (id, attempt) WHERE state < 3;
CREATE INDEX spillway_calls_over ON spillway_calls (wall) WHERE state >= 3;
`, jobTables, fleetTables, leaseTables}

// migrating keeps two gateways that start at once from making the tables twice. It
// is released with its transaction.
const migrating = 0x5350574c // "SPWL"

// migrate makes the tables what this program needs.
func migrate(ctx context.Context, db *pgx.Conn) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrating)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS spillway_version (one boolean PRIMARY KEY DEFAULT true CHECK (one), version bigint NOT NULL)"); err != nil {
			return err
		}
		is := int64(0)
		switch err := tx.QueryRow(ctx, "SELECT version FROM spillway_version").Scan(&is); {
		case err == pgx.ErrNoRows:
		case err != nil:
			return err
		}
		if is < 0 || is > version {
			return fmt.Errorf("its tables are of version %d, and this program knows %d; use the newer program", is, version)
		}
		for ; is < version; is++ {
			if _, err := tx.Exec(ctx, migrations[is]); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "INSERT INTO spillway_version (version) VALUES ($1) ON CONFLICT (one) DO UPDATE SET version = $1", int64(version))
		return err
	})
}
