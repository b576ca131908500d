package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/sqlite"
	"github.com/spillway-dev/spillway/policy/quota"
)

// ledgerFile is a ledger with a call that is unknown, and one that is reserved.
func ledgerFile(t *testing.T, folder string) *sqlite.Store {
	t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(filepath.Join(folder, "l.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	l, err := ledger.Open(ctx, s, "gateway-1")
	if err != nil {
		t.Fatal(err)
	}
	ref := quota.Ref{Name: "q/concurrent", Limit: quota.Limit{Unit: quota.Concurrent, Most: 2}}
	for _, id := range []string{"lost", "held"} {
		if g, err := l.Reserve(ctx, ledger.Ask{ID: id, Budgets: []quota.Ref{ref}, Amounts: quota.One()}); err != nil || !g.OK() {
			t.Fatal(g, err)
		}
	}
	if err := errors.Join(l.Start(ctx, "lost", 0), l.Lose(ctx, "lost", 0, "connection reset")); err != nil {
		t.Fatal(err)
	}
	return s
}

// While a gateway has the file, it is not touched; when it has gone, what is unknown is
// ended by evidence, once.
func TestTheLedgersCommands(t *testing.T) {
	folder := t.TempDir()
	s := ledgerFile(t, folder)
	const direct = "--ledger sqlite:l.db"
	run := func(args string, more ...string) (string, string, int) {
		t.Helper()
		return spillway(t, folder, append(strings.Fields(args), more...)...)
	}
	if _, told, code := run("ledger ls " + direct); code != exitFailed || !strings.Contains(told, "in use by another gateway") || !strings.Contains(told, "admin listener") {
		t.Errorf("while it is in use: %d, %s", code, told)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	out, _, code := run("ledger ls --state unknown " + direct)
	if code != exitDone || !strings.Contains(out, "q/concurrent  2 at once  0     2") || !strings.Contains(out, "connection reset") || strings.Contains(out, "held ") {
		t.Errorf("ls: %d\n%s", code, out)
	}
	if out, _, code := run("ledger show lost " + direct); code != exitDone || !strings.Contains(out, "lost attempt 0: unknown") {
		t.Errorf("show: %d\n%s", code, out)
	}
	out, told, code := run("ledger reconcile lost --not-started --json "+direct, "--evidence", "their list of 12:00")
	if doc := document(t, out); code != exitDone || doc["state"] != "released" || !strings.HasPrefix(doc["evidence"].(string), "their list of 12:00 (") {
		t.Errorf("reconcile: %d, %s\n%s", code, told, out)
	}
	if _, told, code := run("ledger reconcile lost --known "+direct, "--evidence", "x"); code != exitFailed || !strings.Contains(told, "not unknown") {
		t.Errorf("a second time: %d, %s", code, told)
	}
	if out, _, code := run("ledger audit --json " + direct); code != exitDone || document(t, out)["calls"] != 2.0 {
		t.Errorf("audit: %d\n%s", code, out)
	}
}

// A ledger that does not add up is said to, and ends the audit with 3.
func TestAnAuditThatFindsSomething(t *testing.T) {
	folder := t.TempDir()
	s := ledgerFile(t, folder)
	err := s.Update(context.Background(), ledger.Touches{Budgets: []string{"q/concurrent"}}, func(r ledger.Rows) error {
		b, _, err := r.Budget("q/concurrent")
		b.Held = 1
		return errors.Join(err, r.SetBudget("q/concurrent", b))
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	out, told, code := spillway(t, folder, "ledger", "audit", "--ledger", "sqlite:l.db")
	if code != exitCheck || !strings.Contains(out, "wrong: budget q/concurrent: held is 1, the calls add up to 2") {
		t.Errorf("%d, %s\n%s", code, told, out)
	}
	if _, told, code := spillway(t, folder, "ledger", "ls", "--ledger", "sqlite:l.db"); code != exitFailed || !strings.Contains(told, "does not add up") {
		t.Errorf("ls: %d, %s", code, told)
	}
}

func TestWhatIsWrongWithALedgersCommand(t *testing.T) {
	folder := files(t)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"ledger", exitDone, ""},
		{"ledger delete x", exitUsage, "delete"},
		{"ledger ls --admin 127.0.0.1:1", exitFailed, "no gateway answers"},
		{"ledger ls --ledger sqlite:none.db", exitFailed, "none.db: no such file"},
		{"ledger ls --ledger redis://x", exitFailed, "sqlite:FILE"},
		{"ledger ls --ledger sqlite:none.db -c spillway.yaml", exitUsage, "config"},
		{"ledger ls -c none.yaml", exitUsage, "none.yaml"},
		{"ledger ls -c spillway.yaml", exitUsage, "has no ledger"},
		{"ledger show", exitUsage, "accepts 1 arg"},
		{"ledger reconcile x --known", exitUsage, "--evidence"},
		{"ledger reconcile x --evidence y", exitUsage, "--not-started"},
		{"ledger reconcile x --known --not-started --evidence y", exitUsage, "one of the two"},
	} {
		if _, told, code := spillway(t, folder, strings.Fields(c.args)...); code != c.code || !strings.Contains(told, c.says) {
			t.Errorf("%s: %d, %q; want %d, %q", c.args, code, told, c.code, c.says)
		}
	}
}
