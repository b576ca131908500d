package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/spillway-dev/spillway/internal/dbfile"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// made returns the path of a ledger with one started call.
func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(context.Background(), s, "one")
	if err != nil {
		t.Fatal(err)
	}
	a := ledger.Ask{ID: "a", Budgets: []ledger.Ref{{Name: "calls", Limit: quota.Limit{Unit: quota.Concurrent, Most: 3}}}, Amounts: quota.Amounts{quota.Concurrent: 1}}
	if g, err := l.Reserve(context.Background(), a); err != nil || !g.OK() {
		t.Fatal(g, err)
	}
	if err := errors.Join(l.Start(context.Background(), "a", 0), l.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// by runs statements on the file as another program would.
func by(t *testing.T, path, sql string) {
	t.Helper()
	db, err := sqlite3.Open(path)
	if err == nil {
		err = errors.Join(db.Exec(sql), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T) string
		want string
	}{
		{"no such folder", func(t *testing.T) string { return filepath.Join(t.TempDir(), "none", "ledger.db") }, "see that the folder is there"},
		{"no database", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "ledger.db")
			if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}, "is no SQLite database"},
		{"another program's", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "ledger.db")
			by(t, path, "CREATE TABLE theirs (a)")
			return path
		}, "is the database of another program"},
		{"a later version's", func(t *testing.T) string {
			path := made(t)
			by(t, path, "PRAGMA user_version = 9")
			return path
		}, "is of version 9"},
		{"damaged", func(t *testing.T) string {
			path := made(t)
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteAt([]byte(strings.Repeat("\xff", 3*4096)), 4096)
			if err = errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			return path
		}, "is damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.make(t)
			before, _ := os.ReadFile(path)
			s, err := Open(path)
			if err == nil {
				t.Fatal("it was opened", s.Close())
			}
			if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("a file that is not ours was changed")
			}
		})
	}
}

func TestASecondGatewayOnTheSameFileIsRefused(t *testing.T) {
	path := made(t)
	first, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Open(path); err == nil || !strings.Contains(err.Error(), "is in use by another gateway") {
		t.Errorf("%v, %v", s, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// A counter that somebody has changed is found before anything is written.
func TestAnAuditFindsWhatWasChanged(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"UPDATE budgets SET held = 0", "held is 0, the calls add up to 1"},
		{"UPDATE budgets SET spent = 5", "spent is 5, the calls add up to 0"},
		{"DELETE FROM calls", "held is 1, the calls add up to 0"},
		{"UPDATE calls SET state = 3", "held is 1, the calls add up to 0"},
	} {
		path := made(t)
		by(t, path, c.sql)
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ledger.Open(context.Background(), s, "two")
		var wrong *ledger.Mismatch
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.sql, err, c.want)
		}
		s.Close()
	}
}

// The promise is worth what the settings are: each connection is asked.
func TestWhatWasCommittedIsSynced(t *testing.T) {
	s, err := Open(made(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if full, err := dbfile.Number(s.write.db, "PRAGMA synchronous"); err != nil || full != 2 {
		t.Errorf("synchronous is %d, want 2 (FULL); %v", full, err)
	}
	mode, _, err := s.write.db.Prepare("PRAGMA journal_mode")
	if err != nil || !mode.Step() || mode.ColumnText(0) != "wal" {
		t.Errorf("journal mode %q, %v", mode.ColumnText(0), err)
	}
	mode.Close()
	if err := s.read.db.Exec("DELETE FROM calls"); !errors.Is(err, sqlite3.READONLY) {
		t.Errorf("the readers' connection writes: %v", err)
	}
}

// Somebody who looks, or makes a copy, holds nobody up: a reader of another program
// has its own state of the rows, and a lock that another holds for a moment is
// waited for.
func TestOtherProgramsMayLook(t *testing.T) {
	path := made(t)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(context.Background(), s, "two")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	other, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	look := other.Begin()
	if n, err := dbfile.Number(other, "SELECT count(*) FROM calls WHERE state = 1"); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if err := l.Settle(context.Background(), "a", 0, quota.Amounts{}); err != nil {
		t.Errorf("while somebody looks: %v", err)
	}
	if n, err := dbfile.Number(other, "SELECT count(*) FROM calls WHERE state = 1"); err != nil || n != 1 {
		t.Errorf("what he looks at has changed: %d, %v", n, err)
	}
	look.Rollback()

	hold, err := other.BeginImmediate()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := l.Reserve(context.Background(), ledger.Ask{ID: "b"})
		done <- err
	}()
	select {
	case err := <-done:
		t.Errorf("it did not wait for the lock: %v", err)
	case <-time.After(50 * time.Millisecond): // either order is right; this one is looked for
	}
	hold.Rollback()
	if err := <-done; err != nil {
		t.Errorf("after a lock was held for a moment: %v", err)
	}
}
