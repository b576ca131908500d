package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/spillway-dev/spillway/ledger"
)

// leaseTables is the table of leases. Who changes one holds its budget's row.
const leaseTables = `
CREATE TABLE spillway_leases (budget text NOT NULL, owner text NOT NULL, credit bigint NOT NULL CHECK (credit > 0), PRIMARY KEY (budget, owner)) WITH (fillfactor = 50);
CREATE INDEX spillway_lease_owners ON spillway_leases (owner);
`

// Leases returns the leases of a budget.
func (r *rows) Leases(budget string) ([]ledger.Lease, error) {
	return r.leases("SELECT budget, owner, credit FROM spillway_leases WHERE budget = $1 ORDER BY owner", budget)
}

// LeasesOf returns the leases of an owner.
func (r *rows) LeasesOf(owner string) ([]ledger.Lease, error) {
	return r.leases("SELECT budget, owner, credit FROM spillway_leases WHERE owner = $1 ORDER BY budget", owner)
}

func (r *rows) leases(query, name string) ([]ledger.Lease, error) {
	found, err := r.tx.Query(r.ctx, query, storable(name))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (l ledger.Lease, err error) {
		err = row.Scan(&l.Budget, &l.Owner, &l.Credit)
		l.Budget, l.Owner = asStored(l.Budget), asStored(l.Owner)
		return l, err
	})
}

// SetLease writes or removes a lease.
func (r *rows) SetLease(l ledger.Lease) error {
	if l.Credit == 0 {
		_, err := r.tx.Exec(r.ctx, "DELETE FROM spillway_leases WHERE budget = $1 AND owner = $2", storable(l.Budget), storable(l.Owner))
		return err
	}
	_, err := r.tx.Exec(r.ctx, `INSERT INTO spillway_leases (budget, owner, credit) VALUES ($1, $2, $3)
		ON CONFLICT (budget, owner) DO UPDATE SET credit = $3`, storable(l.Budget), storable(l.Owner), l.Credit)
	return err
}

// AddSwept adds to what a budget was charged for no call's row, once the row is there.
func (r *rows) AddSwept(budget string, n int64) error {
	_, err := r.tx.Exec(r.ctx, "UPDATE spillway_budgets SET swept = swept + $2 WHERE name = $1", storable(budget), n)
	return err
}
