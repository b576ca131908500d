package sqlite

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// conn is one connection with its prepared statements. It implements ledger.Rows
// inside a transaction and has one user at a time.
type conn struct {
	db   *sqlite3.Conn
	stmt map[string]*sqlite3.Stmt
	now  quota.Time
}

func newConn(db *sqlite3.Conn) *conn { return &conn{db: db, stmt: map[string]*sqlite3.Stmt{}} }

// prepared returns the statement, ready to be bound.
func (c *conn) prepared(query string) (*sqlite3.Stmt, error) {
	if s := c.stmt[query]; s != nil {
		return s, nil
	}
	s, _, err := c.db.PrepareFlags(query, sqlite3.PREPARE_PERSISTENT)
	if err == nil {
		c.stmt[query] = s
	}
	return s, err
}

// bind binds arguments of the kinds that rows are made of.
func bind(s *sqlite3.Stmt, args []any) error {
	for i, a := range args {
		var err error
		switch a := a.(type) {
		case string:
			err = s.BindText(i+1, a)
		case int64:
			err = s.BindInt64(i+1, a)
		case []byte:
			err = s.BindRawText(i+1, a)
		case blob:
			if err = s.BindBlob(i+1, a); len(a) == 0 { // of none it would make NULL
				err = s.BindZeroBlob(i+1, 0)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// exec runs a statement that answers nothing.
func (c *conn) exec(query string, args ...any) error {
	s, err := c.prepared(query)
	if err != nil {
		return err
	}
	if err := bind(s, args); err != nil {
		return err
	}
	return s.Exec()
}

// rows calls f for each row of the answer; there says whether there was any.
func (c *conn) rows(query string, f func(*sqlite3.Stmt) error, args ...any) (there bool, err error) {
	s, err := c.prepared(query)
	if err != nil {
		return false, err
	}
	defer s.Reset()
	if err := bind(s, args); err != nil {
		return false, err
	}
	for s.Step() {
		there = true
		if err := f(s); err != nil {
			return there, err
		}
	}
	return there, s.Err()
}

// Time returns when the transaction happens.
func (c *conn) Time() quota.Time { return c.now }

// Budget returns a budget.
func (c *conn) Budget(name string) (b quota.Budget, there bool, err error) {
	there, err = c.rows(getBudget, func(s *sqlite3.Stmt) error {
		zone, err := location(s.ColumnText(5))
		b = quota.Budget{
			Limit: quota.Limit{
				Unit: quota.Unit(s.ColumnInt64(0)), Most: s.ColumnInt64(1), Refill: s.ColumnInt64(2),
				Every:  time.Duration(s.ColumnInt64(3)),
				Window: quota.Window{Period: quota.Period(s.ColumnInt64(4)), Zone: zone}, Refund: s.ColumnBool(6),
			},
			Left: s.ColumnInt64(7), Part: s.ColumnInt64(8), Held: s.ColumnInt64(9), Spent: s.ColumnInt64(10),
			At: unit.Instant(s.ColumnInt64(11)), Frees: unit.Instant(s.ColumnInt64(12)),
		}
		return err
	}, name)
	return b, there, err
}

// SetBudget writes a budget.
func (c *conn) SetBudget(name string, b quota.Budget) error {
	l := &b.Limit
	zone := ""
	if l.Window.Zone != nil {
		zone = l.Window.Zone.String()
	}
	refund := int64(0)
	if l.Refund {
		refund = 1
	}
	return c.exec(putBudget, int64(l.Unit), l.Most, l.Refill, int64(l.Every), int64(l.Window.Period), zone, refund,
		b.Left, b.Part, b.Held, b.Spent, int64(b.At), int64(b.Frees), name)
}

// location returns a time zone by its name; "" is none.
func location(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("a budget's time zone %q: %w; install the machine's time zones", name, err)
	}
	return zone, nil
}

// Budgets calls f with every budget.
func (c *conn) Budgets(f func(string, quota.Budget) error) error {
	var names []string
	_, err := c.rows(allBudgets, func(s *sqlite3.Stmt) error {
		names = append(names, s.ColumnText(0))
		return nil
	})
	for _, name := range names {
		b, _, err := c.Budget(name)
		if err != nil {
			return err
		}
		if err := f(name, b); err != nil {
			return err
		}
	}
	return err
}

// Swept is what the removed calls of a budget have cost it.
func (c *conn) Swept(name string) (n int64, err error) {
	_, err = c.rows(getSwept, func(s *sqlite3.Stmt) error {
		n = s.ColumnInt64(0)
		return nil
	}, name)
	return n, err
}

// Over returns attempts whose end has been known for long.
func (c *conn) Over(before unit.Instant, n int) (over []ledger.Key, err error) {
	_, err = c.rows(overCalls, func(s *sqlite3.Stmt) error {
		over = append(over, ledger.Key{ID: s.ColumnText(0), Attempt: s.ColumnInt64(1)})
		return nil
	}, int64(before), int64(n))
	return over, err
}

// Remove removes an attempt.
func (c *conn) Remove(call ledger.Call) error {
	for i, name := range call.Budgets {
		if err := c.exec(addSwept, call.Charged[i], name); err != nil {
			return err
		}
	}
	return c.exec(deleteCall, call.ID, call.Attempt)
}

// Call returns an attempt.
func (c *conn) Call(id string, attempt int64) (call ledger.Call, there bool, err error) {
	there, err = c.rows(getCall, func(s *sqlite3.Stmt) (err error) {
		call, err = readCall(s)
		return err
	}, id, attempt)
	return call, there, err
}

// Open calls f with every attempt whose end is not known.
func (c *conn) Open(f func(ledger.Call) error) error { return c.callsWith(openCalls, f) }

// All calls f with every attempt.
func (c *conn) All(f func(ledger.Call) error) error { return c.callsWith(allCalls, f) }

func readCall(s *sqlite3.Stmt) (c ledger.Call, err error) {
	c.ID, c.Attempt, c.State = s.ColumnText(0), s.ColumnInt64(1), quota.State(s.ColumnInt64(2))
	c.Tenant, c.Owner, c.Evidence = s.ColumnText(3), s.ColumnText(4), s.ColumnText(11)
	c.At = quota.Time{Run: unit.Instant(s.ColumnInt64(9)), Wall: unit.Instant(s.ColumnInt64(10))}
	for column, to := range map[int]any{5: &c.Taken, 6: &c.Used, 7: &c.Budgets, 8: &c.Charged} {
		if err := json.Unmarshal(s.ColumnRawText(column), to); err != nil {
			return c, fmt.Errorf("call %s attempt %d: %w", c.ID, c.Attempt, err)
		}
	}
	if len(c.Budgets) != len(c.Charged) {
		return c, fmt.Errorf("call %s attempt %d: %d budgets and %d charges", c.ID, c.Attempt, len(c.Budgets), len(c.Charged))
	}
	return c, nil
}

// SetCall writes an attempt.
func (c *conn) SetCall(call ledger.Call) error {
	lists := make([][]byte, 4)
	for i, v := range []any{call.Taken, call.Used, call.Budgets, call.Charged} {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		lists[i] = b
	}
	return c.exec(putCall, call.ID, call.Attempt, int64(call.State), call.Tenant, call.Owner,
		lists[0], lists[1], lists[2], lists[3], int64(call.At.Run), int64(call.At.Wall), call.Evidence)
}

// close gives the connection up.
func (c *conn) close() error {
	for _, s := range c.stmt {
		s.Close()
	}
	return c.db.Close()
}
