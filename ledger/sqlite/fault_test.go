package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// onFile opens a ledger on a file.
func onFile(t *testing.T, file, owner string) (*Store, *ledger.Ledger) {
	t.Helper()
	s, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(context.Background(), s, owner)
	if err != nil {
		t.Fatal(errors.Join(err, s.Close()))
	}
	t.Cleanup(func() { l.Close() })
	return s, l
}

var endless = ledger.Ref{Name: "calls", Limit: quota.Limit{Unit: quota.Concurrent, Most: 1 << 40}}

func reserve(l *ledger.Ledger, id string) error {
	g, err := l.Reserve(context.Background(), ledger.Ask{ID: id, Budgets: []ledger.Ref{endless}, Amounts: quota.One()})
	if err == nil && !g.OK() {
		err = fmt.Errorf("%+v", g)
	}
	return err
}

func there(t *testing.T, l *ledger.Ledger, id string) bool {
	t.Helper()
	_, is, err := l.Find(context.Background(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// A file that cannot take more, because its disk is full or because it may not be
// written to any more: what is told to be reserved is there, the rest is refused and
// says why, and when there is room again the same gateway goes on.
func TestAFileThatTakesNoMore(t *testing.T) {
	for _, c := range []struct{ name, begin, end, says string }{
		{"its disk is full", "PRAGMA max_page_count = 40", "PRAGMA max_page_count = 1073741823", "its disk is full"},
		{"it may not be written to", "PRAGMA query_only = ON", "PRAGMA query_only = OFF", "may not be written to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, l := onFile(t, filepath.Join(t.TempDir(), "l.db"), "one")
			set := func(pragma string) {
				t.Helper()
				s.writing.Lock()
				defer s.writing.Unlock()
				if err := s.write.db.Exec(pragma); err != nil {
					t.Fatal(err)
				}
			}
			if err := reserve(l, "before"); err != nil {
				t.Fatal(err)
			}
			set(c.begin)
			told := map[string]bool{}
			refused := 0
			for i := 0; refused < 5; i++ {
				id := fmt.Sprint(i)
				err := reserve(l, id)
				told[id] = err == nil
				if err != nil {
					refused++
					if !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), c.says) {
						t.Fatalf("%v; want that it is not available, and %q", err, c.says)
					}
				}
			}
			for id, granted := range told {
				if there(t, l, id) != granted {
					t.Errorf("%s: granted %v, there %v", id, granted, !granted)
				}
			}
			set(c.end)
			if err := reserve(l, "after"); err != nil {
				t.Errorf("there is room again: %v", err)
			}
			if found, err := l.Audit(context.Background()); err != nil || len(found.Wrong) > 0 {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// A copy is made while calls are reserved and settled, and later the ledger is put back
// to it: it adds up, what was open then is released or unknown, and no slot is free
// whose call may run.
func TestABackupIsRestored(t *testing.T) {
	ctx := context.Background()
	folder := t.TempDir()
	file, backup := filepath.Join(folder, "l.db"), filepath.Join(folder, "copy.db")
	_, l := onFile(t, file, "one")
	if err := errors.Join(reserve(l, "reserved"), reserve(l, "started"), l.Start(ctx, "started", 0)); err != nil {
		t.Fatal(err)
	}
	working, stop := context.WithCancel(ctx)
	var hands sync.WaitGroup
	for hand := range 8 {
		hands.Go(func() {
			for i := 0; working.Err() == nil; i++ {
				id := fmt.Sprint(hand, "-", i)
				if err := errors.Join(reserve(l, id), l.Start(ctx, id, 0), l.Settle(ctx, id, 0, quota.Amounts{})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	other, err := sqlite3.Open("file:" + file + "?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Exec("VACUUM INTO '"+backup+"'"), other.Close()); err != nil {
		t.Fatal(err)
	}
	stop()
	hands.Wait()
	if err := errors.Join(l.Settle(ctx, "started", 0, quota.Amounts{}), l.Close()); err != nil {
		t.Fatal(err)
	}

	_, l = onFile(t, backup, "two")
	err = l.Join(ctx, ledger.Fleet{Heartbeat: time.Hour, DeadAfter: 2 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]quota.State{"reserved": quota.Released, "started": quota.Unknown} {
		if c, _, err := l.Find(ctx, id, 0); err != nil || c.State != want {
			t.Errorf("%s is %v, want %v; %v", id, c.State, want, err)
		}
	}
	open, _, err := l.Calls(ctx, ledger.CallFilter{States: []quota.State{quota.Reserved, quota.Started}}, 10)
	if err != nil || len(open) > 0 {
		t.Errorf("%+v, %v: nobody has these", open, err)
	}
	if found, err := l.Audit(ctx); err != nil || len(found.Wrong) > 0 || found.Unknown < 1 {
		t.Errorf("%+v, %v", found, err)
	}
}

// What a power cut has left behind the last commit, half a transaction or none, is not
// taken for one: all that was told to be on disk is there.
func TestATornTail(t *testing.T) {
	for name, tail := range map[string]func(wal []byte) []byte{
		"zeroes":         func(wal []byte) []byte { return append(wal, make([]byte, 6000)...) },
		"half a frame":   func(wal []byte) []byte { return append(wal, wal[32:1500]...) },
		"an older frame": func(wal []byte) []byte { return append(wal, wal[32:32+24+4096]...) },
		"other bytes":    func(wal []byte) []byte { return append(wal, []byte(strings.Repeat("\xa5", 9000))...) },
	} {
		folder := t.TempDir()
		file := filepath.Join(folder, "l.db")
		_, l := onFile(t, file, "one")
		for i := range 50 {
			if err := reserve(l, fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		copied := filepath.Join(folder, "cut.db")
		for _, part := range []string{"", "-wal"} {
			b, err := os.ReadFile(file + part)
			if err != nil {
				t.Fatal(err)
			}
			if part == "-wal" {
				b = tail(b)
			}
			if err := os.WriteFile(copied+part, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, after := onFile(t, copied, "two") // which audits
		for i := range 50 {
			if !there(t, after, fmt.Sprint(i)) {
				t.Errorf("%s: %d was granted and is not there", name, i)
			}
		}
		if err := reserve(after, "more"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
