package onfile

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/spillway-dev/spillway/internal/dbfile"
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

var kind = dbfile.Kind{
	ID: 0x53505753, Version: 1, // "SPWS"
	Damaged: "remove it (what was known is learned again) or restore a copy",
	Schema: `
CREATE TABLE IF NOT EXISTS entries (
  store TEXT NOT NULL, key BLOB NOT NULL, at INTEGER NOT NULL, value BLOB NOT NULL, PRIMARY KEY (store, key)
);
CREATE INDEX IF NOT EXISTS newest ON entries (store, at DESC);
`,
}

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
	db, err := dbfile.Open(path, kind)
	if err != nil {
		return nil, err
	}
	f := &File{
		path: path, db: db, fail: o.Failed, now: time.Now(),
		every: min(max(cmp.Or(o.Every, EveryDefault), 10*time.Millisecond), time.Minute),
		stop:  make(chan struct{}), ended: make(chan struct{}),
	}
	go f.run()
	return f, nil
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
			return fmt.Errorf("%s: %w", f.path, kind.Explain(err))
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
