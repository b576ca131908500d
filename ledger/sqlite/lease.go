package sqlite

import (
	"github.com/ncruces/go-sqlite3"

	"github.com/spillway-dev/spillway/ledger"
)

// leaseSchema is the table of leases.
const leaseSchema = `
CREATE TABLE IF NOT EXISTS leases (budget TEXT NOT NULL, owner TEXT NOT NULL, credit INTEGER NOT NULL CHECK (credit > 0), PRIMARY KEY (budget, owner)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS lease_owners ON leases (owner);
`

const (
	budgetLeases = "SELECT budget, owner, credit FROM leases WHERE budget = ? ORDER BY owner"
	ownerLeases  = "SELECT budget, owner, credit FROM leases WHERE owner = ? ORDER BY budget"
	putLease     = "INSERT INTO leases (budget, owner, credit) VALUES (?, ?, ?) ON CONFLICT (budget, owner) DO UPDATE SET credit = ?3"
	deleteLease  = "DELETE FROM leases WHERE budget = ? AND owner = ?"
)

// Leases returns the leases of a budget.
func (c *conn) Leases(budget string) ([]ledger.Lease, error) { return c.leases(budgetLeases, budget) }

// LeasesOf returns the leases of an owner.
func (c *conn) LeasesOf(owner string) ([]ledger.Lease, error) { return c.leases(ownerLeases, owner) }

func (c *conn) leases(query, name string) (all []ledger.Lease, err error) {
	_, err = c.rows(query, func(s *sqlite3.Stmt) error {
		all = append(all, ledger.Lease{Budget: s.ColumnText(0), Owner: s.ColumnText(1), Credit: s.ColumnInt64(2)})
		return nil
	}, name)
	return all, err
}

// SetLease writes or removes a lease.
func (c *conn) SetLease(l ledger.Lease) error {
	if l.Credit == 0 {
		return c.exec(deleteLease, l.Budget, l.Owner)
	}
	return c.exec(putLease, l.Budget, l.Owner, l.Credit)
}

// AddSwept adds to what a budget was charged for no call's row.
func (c *conn) AddSwept(budget string, n int64) error { return c.exec(addSwept, n, budget) }
