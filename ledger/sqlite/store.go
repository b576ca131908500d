package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/ncruces/go-sqlite3"

	"github.com/spillway-dev/spillway/internal/dbfile"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Store is an open file. It is safe for concurrent use.
type Store struct {
	path string
	lock *flock.Flock
	now  func() time.Time

	writing sync.Mutex // held by whoever uses write and clock
	write   *conn
	clock   ledger.Clock
	reading sync.Mutex // held by whoever uses read
	read    *conn
	closed  bool // under both
}

// ErrInUse says that another process has the file open.
var ErrInUse = errors.New("is in use by another gateway")

// Open opens the file, or makes it. The error says what is wrong with it and what
// to do: it is another program's, damaged, of a later version, or in use by another
// gateway.
func Open(path string) (*Store, error) { return open(path, nil) }

func open(path string, now func() time.Time) (*Store, error) {
	if now == nil {
		now = time.Now
	}
	lock := flock.New(path + ".lock")
	mine, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: its lock %s cannot be taken: %w; see that the folder is there and may be written to", path, lock.Path(), err)
	case !mine:
		return nil, fmt.Errorf("%s: %w; end that one, name a file of its own, or share a PostgreSQL ledger", path, ErrInUse)
	}
	s := &Store{path: path, lock: lock, now: now}
	if err := s.connect(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// connect opens the writers' and the readers' connection and goes on with the clock
// where the file has it.
func (s *Store) connect() error {
	db, err := dbfile.Open(s.path, kind)
	if err != nil {
		return err
	}
	s.write = newConn(db)
	reader, err := sqlite3.OpenFlags(s.path, sqlite3.OPEN_READONLY)
	if err != nil {
		return s.explain(err)
	}
	s.read = newConn(reader)
	if err := reader.BusyTimeout(dbfile.BusyFor); err != nil {
		return s.explain(err)
	}
	return s.resume()
}

// resume goes on with the clock where the file has it.
func (s *Store) resume() error {
	_, err := s.write.rows(getClock, func(row *sqlite3.Stmt) error {
		s.clock = ledger.Resume(quota.Time{Run: unit.Instant(row.ColumnInt64(0)), Wall: unit.Instant(row.ColumnInt64(1))})
		return nil
	})
	return s.explain(err)
}

func (s *Store) explain(err error) error {
	var of *sqlite3.Error
	var code sqlite3.ErrorCode
	var extended sqlite3.ExtendedErrorCode
	if err == nil || !errors.As(err, &of) && !errors.As(err, &code) && !errors.As(err, &extended) {
		return err
	}
	return fmt.Errorf("%s: %w", s.path, kind.Explain(err))
}

var errClosed = errors.New("the ledger is closed")

// Update runs f in a transaction; see ledger.Store.
func (s *Store) Update(_ context.Context, _ ledger.Touches, f func(ledger.Rows) error) (err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return errClosed
	}
	c := s.write
	c.now = s.clock.At(s.now())
	tx, err := c.db.BeginImmediate()
	if err != nil {
		return s.explain(err)
	}
	defer func() { err = s.explain(err) }()
	defer tx.End(&err) // rolls back after an error or a panic, else commits
	if err := f(c); err != nil {
		return err
	}
	return c.exec(putClock, int64(c.now.Run), int64(c.now.Wall))
}

// View runs f on a state of the rows; see ledger.Store.
func (s *Store) View(_ context.Context, f func(ledger.Rows) error) error {
	s.writing.Lock()
	now := s.clock.At(s.now())
	s.writing.Unlock()

	s.reading.Lock()
	defer s.reading.Unlock()
	if s.closed {
		return errClosed
	}
	c := s.read
	c.now = now
	tx := c.db.Begin()
	defer tx.Rollback()
	return s.explain(f(c))
}

// Close gives the file up. What was committed stays.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for _, c := range []*conn{s.read, s.write} {
		if c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(append(errs, s.lock.Unlock())...)
}
