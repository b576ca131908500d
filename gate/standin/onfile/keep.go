package onfile

import (
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/spillway-dev/spillway/gate/standin"
)

// kept is a store and its place in the file.
type kept[T any] struct {
	name    string
	store   *standin.Store[T]
	codec   Codec[T]
	changes []standin.Change[T]
	buffer  []byte
	// What was written since the file's entries were last counted.
	grown      int
	grownBytes int64
}

// Keep fills a store, which must have been made with Journal, with what the file has
// under a name, and keeps the file up to date from now on. What cannot be read, is
// from the future, or finds no room is left out.
func Keep[T any](f *File, name string, s *standin.Store[T], codec Codec[T]) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errors.New("the file is closed")
	}
	f.now = time.Now()
	k := &kept[T]{name: name, store: s, codec: codec}
	if err := k.load(f); err != nil {
		return fmt.Errorf("%s: %w", f.path, kind.Explain(err))
	}
	f.kept = append(f.kept, k)
	return nil
}

// Forget ends the keeping of a store: what changed is written, and the file stays as
// it is from then on.
func Forget[T any](f *File, s *standin.Store[T]) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, k := range f.kept {
		if own, ok := k.(*kept[T]); ok && own.store == s {
			f.kept = append(f.kept[:i:i], f.kept[i+1:]...)
			f.now = time.Now()
			return own.write(f)
		}
	}
	return nil
}

func (k *kept[T]) load(f *File) error {
	limits := k.store.Limits()
	s, _, err := f.db.Prepare("SELECT key, at, value FROM entries WHERE store = ? AND length(value) <= ? ORDER BY at DESC LIMIT ?")
	if err != nil {
		return err
	}
	defer s.Close()
	if err := errors.Join(s.BindText(1, k.name), s.BindInt64(2, limits.Bytes), s.BindInt(3, limits.Entries)); err != nil {
		return err
	}
	for s.Step() {
		age := f.now.Sub(time.Unix(0, s.ColumnInt64(1)))
		if age < 0 {
			continue // the clock was set back: nobody knows how old it is
		}
		if limits.Age > 0 && age > limits.Age {
			break
		}
		v, err := k.codec.Decode(s.ColumnRawBlob(2))
		if err != nil {
			continue
		}
		if !k.store.Restore(string(s.ColumnRawBlob(0)), v, f.now.Add(-age)) {
			break
		}
	}
	return s.Err()
}

// batchMost is how many changes of each part of a store go into one transaction.
const batchMost = 4096

// write brings the file up to date in one transaction, or does not touch it.
func (k *kept[T]) write(f *File) (err error) {
	k.changes = k.store.Changed(k.changes[:0], batchMost)
	defer func() { clear(k.changes) }() // the values may be large, and evicted by now
	if len(k.changes) == 0 {
		return nil
	}
	tx, err := f.db.BeginImmediate()
	if err != nil {
		return err
	}
	defer tx.End(&err)
	put, _, err := f.db.Prepare(`INSERT INTO entries (store, key, at, value) VALUES (?, ?, ?, ?)
		ON CONFLICT (store, key) DO UPDATE SET at = excluded.at, value = excluded.value WHERE excluded.at >= at`)
	if err != nil {
		return err
	}
	defer put.Close()
	drop, _, err := f.db.Prepare(`DELETE FROM entries WHERE store = ? AND key = ? AND at <= ?`)
	if err != nil {
		return err
	}
	defer drop.Close()
	for i := range k.changes {
		if err := k.change(&k.changes[i], f.now, put, drop); err != nil {
			return err
		}
	}
	return k.prune(f)
}

func (k *kept[T]) change(c *standin.Change[T], now time.Time, put, drop *sqlite3.Stmt) error {
	at := now.Add(c.At.Sub(now)).UnixNano() // by the wall clock of now, whatever it was then
	if c.Gone {
		return errors.Join(drop.BindText(1, k.name), drop.BindBlob(2, []byte(c.Key)), drop.BindInt64(3, at), drop.Exec())
	}
	var err error
	if k.buffer, err = k.codec.Append(k.buffer[:0], c.Value); err != nil {
		return fmt.Errorf("a value of store %s cannot be written: %w", k.name, err)
	}
	k.grown++
	k.grownBytes += int64(len(k.buffer) + len(c.Key))
	return errors.Join(put.BindText(1, k.name), put.BindBlob(2, []byte(c.Key)), put.BindInt64(3, at), put.BindBlob(4, k.buffer), put.Exec())
}

// prune takes the oldest entries out of a file that has grown past the store's
// limits, and those too old to be given. It counts only when a quarter of the limits
// was written: in between the file may be larger by that.
func (k *kept[T]) prune(f *File) error {
	limits := k.store.Limits()
	if k.grown < (limits.Entries+3)/4 && k.grownBytes < limits.Bytes/4 {
		return nil
	}
	k.grown, k.grownBytes = 0, 0
	s, _, err := f.db.Prepare(`DELETE FROM entries WHERE rowid IN (
		SELECT rowid FROM (SELECT rowid, row_number() OVER o AS n, sum(length(value) + length(key)) OVER o AS size
			FROM entries WHERE store = ?1 WINDOW o AS (ORDER BY at DESC, rowid ROWS UNBOUNDED PRECEDING))
		WHERE n > ?2 OR size > ?3) OR store = ?1 AND at < ?4`)
	if err != nil {
		return err
	}
	defer s.Close()
	var oldest int64
	if limits.Age > 0 {
		oldest = time.Now().Add(-limits.Age).UnixNano()
	}
	return errors.Join(s.BindText(1, k.name), s.BindInt(2, limits.Entries), s.BindInt64(3, limits.Bytes), s.BindInt64(4, oldest), s.Exec())
}
