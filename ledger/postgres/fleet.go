package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/unit"
)

// fleetTables are the tables of the quotas and of who writes.
const fleetTables = `
CREATE TABLE spillway_terms (
  one boolean PRIMARY KEY DEFAULT true CHECK (one), version bigint NOT NULL, quotas text NOT NULL, who text NOT NULL, at bigint NOT NULL
);
CREATE TABLE spillway_owners (name text COLLATE "C" PRIMARY KEY, beat bigint NOT NULL, seen bigint NOT NULL) WITH (fillfactor = 50);
`

// Terms returns the quotas that the ledger holds. The row is shared until the end of a
// transaction that writes: who would replace them waits.
func (r *rows) Terms() (t ledger.Terms, err error) {
	query := "SELECT version, quotas, who, at FROM spillway_terms"
	if r.lock != "" {
		query += " FOR SHARE"
	}
	err = r.tx.QueryRow(r.ctx, query).Scan(&t.Version, &t.Text, &t.By, &t.At)
	if errors.Is(err, pgx.ErrNoRows) {
		return ledger.Terms{}, nil
	}
	t.Text, t.By = asStored(t.Text), asStored(t.By)
	return t, err
}

// SetTerms writes the quotas. Of two that are the first to, one is broken off.
func (r *rows) SetTerms(t ledger.Terms) error {
	query := "UPDATE spillway_terms SET version = $1, quotas = $2, who = $3, at = $4"
	if t.Version == 1 {
		query = "INSERT INTO spillway_terms (version, quotas, who, at) VALUES ($1, $2, $3, $4)"
	}
	_, err := r.tx.Exec(r.ctx, query, t.Version, storable(t.Text), storable(t.By), int64(t.At))
	return err
}

// Owners returns who is taken for alive.
func (r *rows) Owners() ([]ledger.Owner, error) {
	found, err := r.tx.Query(r.ctx, "SELECT name, beat, seen FROM spillway_owners ORDER BY name")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (o ledger.Owner, err error) {
		err = row.Scan(&o.Name, &o.Beat, &o.Seen)
		o.Name = asStored(o.Name)
		return o, err
	})
}

// AddOwner writes an owner down.
func (r *rows) AddOwner(o ledger.Owner) error {
	_, err := r.tx.Exec(r.ctx, "INSERT INTO spillway_owners (name, beat, seen) VALUES ($1, $2, $3)", storable(o.Name), o.Beat, int64(o.Seen))
	return err
}

// BeatOwner writes that an owner lives.
func (r *rows) BeatOwner(name string, seen unit.Instant) (bool, error) {
	tag, err := r.tx.Exec(r.ctx, "UPDATE spillway_owners SET beat = beat + 1, seen = $2 WHERE name = $1", storable(name), int64(seen))
	return tag.RowsAffected() > 0, err
}

// DropOwner removes an owner.
func (r *rows) DropOwner(o ledger.Owner) error {
	_, err := r.tx.Exec(r.ctx, "DELETE FROM spillway_owners WHERE name = $1 AND beat = $2", storable(o.Name), o.Beat)
	return err
}

// Holders returns who has something under way.
func (r *rows) Holders() ([]string, error) {
	found, err := r.tx.Query(r.ctx, "SELECT DISTINCT owner FROM spillway_calls WHERE state < 3 AND state < 2 UNION SELECT owner FROM spillway_jobs WHERE state = 1 UNION SELECT owner FROM spillway_leases")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (name string, err error) {
		err = row.Scan(&name)
		return asStored(name), err
	})
}

// Alone reports that others may share the database.
func (s *Store) Alone() bool { return false }
