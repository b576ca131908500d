package onfile

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// Options of a file. The zero value serves.
type Options struct {
	// Every is how often what changed is written, 10 ms .. 1 min. Default
	// EveryDefault.
	Every time.Duration
	// Failed is told of a write that failed; what was in it is not written again
	// unless it changes again. It is called by the file's goroutine, at most once an
	// Every. nil: nobody is told.
	Failed func(error)
}

// EveryDefault is how often what changed is written.
const EveryDefault = time.Second

// What marks a file as ours, and its version.
const (
	applicationID = 0x53505753 // "SPWS"
	version       = 1
)

const schema = `
CREATE TABLE IF NOT EXISTS entries (
  store TEXT NOT NULL, key BLOB NOT NULL, at INTEGER NOT NULL, value BLOB NOT NULL, PRIMARY KEY (store, key)
);
CREATE INDEX IF NOT EXISTS newest ON entries (store, at DESC);
`

// File is an open file. It is safe for concurrent use.
type File struct {
	path  string
	every time.Duration
	fail  func(error)

	mu     sync.Mutex // held by whoever uses db
	db     *sqlite3.Conn
	now    time.Time // one for all stores, or what came first might seem to come last
	kept   []keeper
	closed bool

	stop  chan struct{}
	ended chan struct{}
}

// keeper is a store that is kept in the file.
type keeper interface{ write(f *File) error }

// Open opens the file, or makes it. The error says what is wrong with it and what to
// do; a file that was there and is not ours is left as it is.
func Open(path string, o Options) (*File, error) {
	db, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be opened: %w; see that its folder is there and may be written to", path, err)
	}
	f := &File{
		path: path, db: db, fail: o.Failed,
		every: min(max(cmp.Or(o.Every, EveryDefault), 10*time.Millisecond), time.Minute),
		stop:  make(chan struct{}), ended: make(chan struct{}),
	}
	if err := f.begin(); err != nil {
		db.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	go f.run()
	return f, nil
}

// begin finds out whose the file is, and makes it ours if it is nobody's.
func (f *File) begin() error {
	f.now = time.Now()
	f.db.BusyTimeout(5 * time.Second)
	id, err := f.number("PRAGMA application_id")
	if err != nil {
		return explain(err)
	}
	tables, err := f.number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return explain(err)
	}
	switch {
	case id != applicationID && (id != 0 || tables != 0):
		return errors.New("is the database of another program; name a file of its own")
	case id == applicationID:
		v, err := f.number("PRAGMA user_version")
		if err != nil {
			return explain(err)
		}
		if v > version {
			return fmt.Errorf("is of version %d, and this program knows %d; use the newer program, or remove the file", v, version)
		}
		if err := f.sound(); err != nil {
			return err
		}
	}
	if err := f.db.Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;"); err != nil {
		return explain(err)
	}
	tx, err := f.db.BeginImmediate()
	if err != nil {
		return explain(err)
	}
	defer tx.End(&err)
	err = f.db.Exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;%s", applicationID, version, schema))
	return explain(err)
}

// sound looks the file over.
func (f *File) sound() error {
	s, _, err := f.db.Prepare("PRAGMA quick_check(1)")
	if err != nil {
		return explain(err)
	}
	defer s.Close()
	if s.Step() && s.ColumnText(0) == "ok" {
		return nil
	}
	if err := s.Err(); err != nil {
		return explain(err)
	}
	return errDamaged
}

var errDamaged = errors.New("is damaged; remove it (what was known is learned again) or restore a copy")

// explain says what an error of SQLite means for whoever named the file.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlite3.NOTADB):
		return errors.New("is no SQLite database; name another file")
	case errors.Is(err, sqlite3.CORRUPT):
		return errDamaged
	case errors.Is(err, sqlite3.READONLY):
		return errors.New("may not be written to; change its owner or name another file")
	case errors.Is(err, sqlite3.BUSY):
		return errors.New("is locked by another program; end that or name another file")
	}
	return fmt.Errorf("cannot be used: %s", strings.TrimPrefix(err.Error(), "sqlite3: "))
}

func (f *File) number(query string) (int64, error) {
	s, _, err := f.db.Prepare(query)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if !s.Step() {
		return 0, s.Err()
	}
	return s.ColumnInt64(0), s.Err()
}

// run writes what changed, until the file is closed.
func (f *File) run() {
	defer close(f.ended)
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	for {
		select {
		case <-f.stop:
			return
		case <-tick.C:
			if err := f.Flush(); err != nil && f.fail != nil {
				f.fail(err)
			}
		}
	}
}

// Flush writes what changed until now and returns when it is on the disk.
func (f *File) Flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	return f.flush()
}

func (f *File) flush() error {
	f.now = time.Now()
	for _, k := range f.kept {
		if err := k.write(f); err != nil {
			return fmt.Errorf("%s: %w", f.path, explain(err))
		}
	}
	return nil
}

// Close writes what changed and closes the file. The stores go on, in memory.
func (f *File) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	f.mu.Unlock()
	close(f.stop)
	<-f.ended
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.flush(), f.db.Close())
}
