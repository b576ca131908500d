package dbfile

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// Kind is one kind of file.
type Kind struct {
	// ID marks files of this kind as ours.
	ID int32
	// Version is the one that this program writes. Files of a later one are refused.
	Version int
	// Schema makes the tables that are not there.
	Schema string
	// Damaged says what is to be done about a damaged file.
	Damaged string
}

// BusyFor is how long another program may hold the file's lock before that is an
// error: a backup, somebody who looks.
const BusyFor = 5 * time.Second

// Open opens a file of the kind, or makes it. The error says what is wrong with it
// and what to do; a file that was there and is not ours is left as it is.
func Open(path string, k Kind) (*sqlite3.Conn, error) {
	db, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be opened: %w; see that its folder is there and may be written to", path, err)
	}
	if err := k.begin(db); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	return db, nil
}

// begin finds out whose the file is, and makes it ours if it is nobody's.
func (k Kind) begin(db *sqlite3.Conn) (err error) {
	if err := db.BusyTimeout(BusyFor); err != nil {
		return k.Explain(err)
	}
	id, err := Number(db, "PRAGMA application_id")
	if err != nil {
		return k.Explain(err)
	}
	tables, err := Number(db, "SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return k.Explain(err)
	}
	switch {
	case id != int64(k.ID) && (id != 0 || tables != 0):
		return errors.New("is the database of another program; name a file of its own")
	case id == int64(k.ID):
		v, err := Number(db, "PRAGMA user_version")
		if err != nil {
			return k.Explain(err)
		}
		if v > int64(k.Version) {
			return fmt.Errorf("is of version %d, and this program knows %d; use the newer program, or remove the file", v, k.Version)
		}
		if err := k.sound(db); err != nil {
			return err
		}
	}
	if err := db.Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;"); err != nil {
		return k.Explain(err)
	}
	tx, err := db.BeginImmediate()
	if err != nil {
		return k.Explain(err)
	}
	defer func() { err = k.Explain(err) }()
	defer tx.End(&err)
	return db.Exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;%s", k.ID, k.Version, k.Schema))
}

// sound looks the file over.
func (k Kind) sound(db *sqlite3.Conn) error {
	s, _, err := db.Prepare("PRAGMA quick_check(1)")
	if err != nil {
		return k.Explain(err)
	}
	defer s.Close()
	if s.Step() && s.ColumnText(0) == "ok" {
		return nil
	}
	if err := s.Err(); err != nil {
		return k.Explain(err)
	}
	return k.damaged()
}

func (k Kind) damaged() error { return errors.New("is damaged; " + k.Damaged) }

// Explain says what an error of SQLite means for whoever named the file; nil is
// nil.
func (k Kind) Explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlite3.NOTADB):
		return errors.New("is no SQLite database; name another file")
	case errors.Is(err, sqlite3.CORRUPT):
		return k.damaged()
	case errors.Is(err, sqlite3.READONLY):
		return errors.New("may not be written to; change its owner or name another file")
	case errors.Is(err, sqlite3.BUSY):
		return errors.New("is locked by another program; end that or name another file")
	case errors.Is(err, sqlite3.FULL):
		return errors.New("has no room to grow: its disk is full; make room")
	}
	return fmt.Errorf("cannot be used: %s", strings.TrimPrefix(err.Error(), "sqlite3: "))
}

// Number returns the first figure that a query answers, 0 if it answers none.
func Number(db *sqlite3.Conn, query string) (int64, error) {
	s, _, err := db.Prepare(query)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if !s.Step() {
		return 0, s.Err()
	}
	return s.ColumnInt64(0), s.Err()
}
