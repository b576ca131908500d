package postgres

import "github.com/spillway-dev/spillway/ledger"

// CallsAfter calls f with attempts after one. The order is the database's own for text,
// the same each time.
func (r *rows) CallsAfter(after ledger.Key, open bool, n int, f func(ledger.Call) error) error {
	query := "SELECT " + callFields + " FROM spillway_calls WHERE (id, attempt) > ($1, $2)"
	if open {
		query += " AND state < 3"
	}
	return r.each(query+" ORDER BY id, attempt LIMIT $3", f, storable(after.ID), after.Attempt, n)
}

// CallsOf calls f with the attempts of a call.
func (r *rows) CallsOf(id string, n int, f func(ledger.Call) error) error {
	return r.each("SELECT "+callFields+" FROM spillway_calls WHERE id = $1 ORDER BY attempt LIMIT $2", f, storable(id), n)
}
