package sqlite

import (
	"fmt"

	"github.com/ncruces/go-sqlite3"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/unit"
)

// fleetSchema are the tables of the quotas and of who writes.
const fleetSchema = `
CREATE TABLE IF NOT EXISTS terms (
  one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, quotas TEXT NOT NULL, who TEXT NOT NULL, at INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS owners (name TEXT PRIMARY KEY, beat INTEGER NOT NULL, seen INTEGER NOT NULL) WITHOUT ROWID;
`

const (
	getTerms = "SELECT version, quotas, who, at FROM terms"
	putTerms = `INSERT INTO terms (one, version, quotas, who, at) VALUES (1, ?, ?, ?, ?)
		ON CONFLICT (one) DO UPDATE SET version = ?1, quotas = ?2, who = ?3, at = ?4`
	allOwners = "SELECT name, beat, seen FROM owners ORDER BY name"
	addOwner  = "INSERT INTO owners (name, beat, seen) VALUES (?, ?, ?)"
	beatOwner = "UPDATE owners SET beat = beat + 1, seen = ? WHERE name = ?"
	dropOwner = "DELETE FROM owners WHERE name = ? AND beat = ?"
	holders   = "SELECT DISTINCT owner FROM calls WHERE state < 3 AND state < 2 UNION SELECT owner FROM jobs WHERE state = 1 UNION SELECT owner FROM leases"
)

// Terms returns the quotas that the ledger holds.
func (c *conn) Terms() (t ledger.Terms, err error) {
	_, err = c.rows(getTerms, func(s *sqlite3.Stmt) error {
		t = ledger.Terms{Version: s.ColumnInt64(0), Text: s.ColumnText(1), By: s.ColumnText(2), At: unit.Instant(s.ColumnInt64(3))}
		return nil
	})
	return t, err
}

// SetTerms writes the quotas.
func (c *conn) SetTerms(t ledger.Terms) error {
	return c.exec(putTerms, t.Version, t.Text, t.By, int64(t.At))
}

// Owners returns who is taken for alive.
func (c *conn) Owners() (all []ledger.Owner, err error) {
	_, err = c.rows(allOwners, func(s *sqlite3.Stmt) error {
		all = append(all, ledger.Owner{Name: s.ColumnText(0), Beat: s.ColumnInt64(1), Seen: unit.Instant(s.ColumnInt64(2))})
		return nil
	})
	return all, err
}

// AddOwner writes an owner down.
func (c *conn) AddOwner(o ledger.Owner) error {
	if err := c.exec(addOwner, o.Name, o.Beat, int64(o.Seen)); err != nil {
		return fmt.Errorf("gateway %q: %w", o.Name, err)
	}
	return nil
}

// BeatOwner writes that an owner lives.
func (c *conn) BeatOwner(name string, seen unit.Instant) (bool, error) {
	err := c.exec(beatOwner, int64(seen), name)
	return c.db.Changes() > 0, err
}

// DropOwner removes an owner.
func (c *conn) DropOwner(o ledger.Owner) error { return c.exec(dropOwner, o.Name, o.Beat) }

// Holders returns who has something under way.
func (c *conn) Holders() (names []string, err error) {
	_, err = c.rows(holders, func(s *sqlite3.Stmt) error {
		names = append(names, s.ColumnText(0))
		return nil
	})
	return names, err
}

// Alone reports that nobody else can have the file open: its lock is held.
func (s *Store) Alone() bool { return true }
