package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Store is a ledger's rows in a database. It is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
	now  func() time.Time // nil: the database's
	// timeout is how long a transaction may take in all before its connection is given
	// up: a network that swallows packets answers nothing.
	timeout time.Duration
}

// Bounds of what a transaction may take and of how often it is run again.
const (
	timeout = 5 * time.Second
	// again is how often one is run that the database breaks off.
	again = 20
)

// Open connects to the database of the URL, makes the tables or brings them up to
// date, and returns the store. Errors name the host, never the password.
func Open(ctx context.Context, url string) (*Store, error) { return open(ctx, url, nil) }

func open(ctx context.Context, url string, now func() time.Time) (*Store, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("postgres: the URL makes no sense; write postgres://user@host:5432/database") // the parser's error repeats it
	}
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler forgets what was prepared
	cfg.MaxConns = max(cfg.MaxConns, 4)
	where := fmt.Sprintf("postgres %s:%d/%s", cfg.ConnConfig.Host, cfg.ConnConfig.Port, cfg.ConnConfig.Database)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return migrate(ctx, c.Conn()) }); err != nil {
		pool.Close()
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return &Store{pool: pool, now: now, timeout: timeout}, nil
}

// Update runs f in a transaction; see ledger.Store.
func (s *Store) Update(ctx context.Context, t ledger.Touches, f func(ledger.Rows) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	for n := 0; ; n++ {
		err := s.once(ctx, t, f)
		if n == again || !brokenOff(err) {
			return err
		}
	}
}

// once runs the transaction once. An error of the commit itself leaves it open
// whether it was made.
func (s *Store) once(ctx context.Context, t ledger.Touches, f func(ledger.Rows) error) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	r, err := s.rows(ctx, tx, " FOR UPDATE")
	if err != nil {
		return err
	}
	if err := r.load(t); err != nil {
		return err
	}
	if err := f(r); err != nil {
		return err
	}
	if err := r.write(); err != nil {
		return err
	}
	err = tx.Commit(ctx)
	var told *pgconn.PgError
	if err != nil && !errors.As(err, &told) && !errors.Is(err, pgx.ErrTxCommitRollback) {
		return fmt.Errorf("%w: %w", ledger.ErrUncertain, err)
	}
	return err
}

// rows begins a view of a transaction, at its time.
func (s *Store) rows(ctx context.Context, tx pgx.Tx, lock string) (*rows, error) {
	r := &rows{ctx: ctx, tx: tx, lock: lock, budgets: map[string]*budget{}, calls: map[ledger.Key]*call{}, jobRows: newJobRows()}
	if s.now != nil {
		r.now = at(s.now())
		return r, nil
	}
	var wall time.Time
	if err := tx.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&wall); err != nil {
		return nil, err
	}
	r.now = at(wall)
	return r, nil
}

// brokenOff reports whether the database has ended a transaction for another's sake:
// a deadlock, a serialisation failure, or two that made the same row.
func brokenOff(err error) bool {
	var told *pgconn.PgError
	if !errors.As(err, &told) {
		return false
	}
	switch told.Code {
	case "40001", "40P01", "23505":
		return true
	}
	return false
}

// View runs f on a state of the rows; see ledger.Store.
func (s *Store) View(ctx context.Context, f func(ledger.Rows) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	r, err := s.rows(ctx, tx, "")
	if err != nil {
		return err
	}
	return f(&looked{rows: r})
}

// Close gives the connections up. What was committed stays.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// looked is rows of a view, where what is asked for need not be said before.
type looked struct{ *rows }

// Budget returns a budget.
func (r *looked) Budget(name string) (b quota.Budget, there bool, err error) {
	if err := r.load(ledger.Touches{Budgets: []string{name}}); err != nil {
		return b, false, err
	}
	return r.rows.Budget(name)
}

// Call returns an attempt.
func (r *looked) Call(id string, attempt int64) (c ledger.Call, there bool, err error) {
	if err := r.load(ledger.Touches{Calls: []ledger.Key{{ID: id, Attempt: attempt}}}); err != nil {
		return c, false, err
	}
	return r.rows.Call(id, attempt)
}
