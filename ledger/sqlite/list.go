package sqlite

import (
	"github.com/ncruces/go-sqlite3"

	"github.com/spillway-dev/spillway/ledger"
)

const (
	callsAfter     = callFields + " WHERE (id, attempt) > (?, ?) ORDER BY id, attempt LIMIT ?"
	openCallsAfter = callFields + " WHERE state < 3 AND (id, attempt) > (?, ?) ORDER BY id, attempt LIMIT ?"
	callsOf        = callFields + " WHERE id = ? ORDER BY attempt LIMIT ?"
)

// CallsAfter calls f with attempts after one.
func (c *conn) CallsAfter(after ledger.Key, open bool, n int, f func(ledger.Call) error) error {
	query := callsAfter
	if open {
		query = openCallsAfter
	}
	return c.callsWith(query, f, after.ID, after.Attempt, int64(n))
}

// CallsOf calls f with the attempts of a call.
func (c *conn) CallsOf(id string, n int, f func(ledger.Call) error) error {
	return c.callsWith(callsOf, f, id, int64(n))
}

func (c *conn) callsWith(query string, f func(ledger.Call) error, args ...any) error {
	_, err := c.rows(query, func(s *sqlite3.Stmt) error {
		call, err := readCall(s)
		if err != nil {
			return err
		}
		return f(call)
	}, args...)
	return err
}
