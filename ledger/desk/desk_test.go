package desk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/desk"
	"github.com/spillway-dev/spillway/ledger/sqlite"
	"github.com/spillway-dev/spillway/policy/quota"
)

var ctx = context.Background()

// kept is a ledger with one call in each state; the unknown one has a hostile name.
func kept(t *testing.T) *ledger.Ledger {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "l.db"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(ctx, s, "gateway-1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	slots := quota.Ref{Name: "concurrent", Limit: quota.Limit{Unit: quota.Concurrent, Most: 9}}
	tokens := quota.Ref{Name: "tokens/day", Limit: quota.Limit{Unit: quota.Tokens, Most: 1000, Window: quota.Window{Period: quota.Day}}}
	quotas := []quota.Quota{{Name: "q", All: []quota.Ref{slots, tokens}}}
	if _, _, err := l.Configure(ctx, quotas, ledger.Refuse); err != nil {
		t.Fatal(err)
	}
	for id, life := range map[string]func(string) error{
		"a":       func(string) error { return nil },
		"b":       func(id string) error { return l.Start(ctx, id, 0) },
		"c\x1b[2": func(id string) error { return errors.Join(l.Start(ctx, id, 0), l.Lose(ctx, id, 0, "reset by peer")) },
		"d": func(id string) error {
			return errors.Join(l.Start(ctx, id, 0), l.Settle(ctx, id, 0, quota.Amounts{quota.Tokens: 70}))
		},
		"e": func(id string) error { return l.Release(ctx, id, 0) },
	} {
		g, err := l.Reserve(ctx, ledger.Ask{ID: id, Tenant: "acme", Budgets: quotas[0].Append(nil, "acme", ""), Amounts: quota.Amounts{quota.Concurrent: 1, quota.Tokens: 50}})
		if err = errors.Join(err, life(id)); err != nil || !g.OK() {
			t.Fatal(id, g, err)
		}
	}
	return l
}

func values(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

func TestLs(t *testing.T) {
	l := kept(t)
	for _, c := range []struct {
		q    url.Values
		want string // ids
	}{
		{nil, "a b c\x1b[2"},
		{values("state", "unknown"), "c\x1b[2"},
		{values("state", "all"), "a b c\x1b[2 d e"},
		{values("state", "all", "tenant", "nobody"), ""},
		{values("state", "all", "limit", "2"), "a b"},
		{values("state", "all", "after", "c\x1b[2/0"), "d e"},
	} {
		got, err := desk.Ls(ctx, l, c.q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, one := range got.Calls {
			ids = append(ids, one.ID)
		}
		if strings.Join(ids, " ") != c.want {
			t.Errorf("%v: %q, want %q", c.q, ids, c.want)
		}
		if got.Terms.Version != 1 || len(got.Budgets) == 0 || got.Budgets[0].Held != 3 || got.Budgets[0].Limit != "9 at once" {
			t.Errorf("%v: %+v", c.q, got)
		}
		var b bytes.Buffer
		if err := got.WriteText(&b); err != nil || strings.ContainsRune(b.String(), '\x1b') {
			t.Errorf("%v: %v: a terminal is steered: %q", c.q, err, b.String())
		}
	}
	for _, q := range []url.Values{values("state", "gone"), values("limit", "0"), values("limit", "1001"), values("after", "x"), values("after", "x/y"), values("delete", "1")} {
		if _, err := desk.Ls(ctx, l, q); !isBad(err) {
			t.Errorf("%v: %v", q, err)
		}
	}
}

func isBad(err error) bool {
	bad := new(desk.Bad)
	return errors.As(err, &bad)
}

func TestShowAndAudit(t *testing.T) {
	l := kept(t)
	got, err := desk.Show(ctx, l, values("id", "d"))
	if err != nil || len(got.Calls) != 1 || got.Calls[0].State != "settled" || got.Calls[0].Used["tokens"] != 70 || got.Calls[0].Budgets[1].Charged != 70 {
		t.Errorf("%+v, %v", got, err)
	}
	var b bytes.Buffer
	if err := got.WriteText(&b); err != nil || !strings.Contains(b.String(), "charged to    q/tokens/day: 70") {
		t.Errorf("%v: %s", err, b.String())
	}
	if _, err := desk.Show(ctx, l, values("id", "nobody")); !errors.Is(err, desk.ErrNone) {
		t.Error(err)
	}
	found, err := desk.Audit(ctx, l, nil)
	if err != nil || found.Calls != 5 || found.Unknown != 1 || len(found.Wrong) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
	if out, _ := json.Marshal(found); !strings.Contains(string(out), `"wrong":[]`) {
		t.Errorf("%s", out)
	}
}

// Nothing is ended without evidence, and nothing that somebody still has.
func TestReconcile(t *testing.T) {
	l := kept(t)
	id := "c\x1b[2"
	for name, q := range map[string]url.Values{
		"no evidence":   values("id", id, "known", "1"),
		"blank":         values("id", id, "known", "1", "evidence", "  "),
		"neither":       values("id", id, "evidence", "x"),
		"both":          values("id", id, "evidence", "x", "known", "1", "notstarted", "1"),
		"no id":         values("known", "1", "evidence", "x"),
		"used by none":  values("id", id, "notstarted", "1", "used", "tokens=1", "evidence", "x"),
		"no unit":       values("id", id, "known", "1", "used", "tokns=1", "evidence", "x"),
		"no figure":     values("id", id, "known", "1", "used", "tokens=-1", "evidence", "x"),
		"no attempt":    values("id", id, "known", "1", "attempt", "7", "evidence", "x"),
		"not a number":  values("id", id, "known", "1", "attempt", "x", "evidence", "x"),
		"something new": values("id", id, "known", "1", "force", "1", "evidence", "x"),
	} {
		if _, err := desk.Reconcile(ctx, l, q, "me"); !isBad(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, other := range []string{"a", "b", "d", "e"} {
		if _, err := desk.Reconcile(ctx, l, values("id", other, "notstarted", "1", "evidence", "x"), "me"); !errors.Is(err, desk.ErrNotUnknown) {
			t.Errorf("%s: %v", other, err)
		}
	}
	if _, err := desk.Reconcile(ctx, l, values("id", "nobody", "notstarted", "1", "evidence", "x"), "me"); !errors.Is(err, desk.ErrNone) {
		t.Error(err)
	}
	got, err := desk.Reconcile(ctx, l, values("id", id, "known", "1", "used", "tokens=10", "evidence", "their list"), "me")
	if err != nil || got.State != "settled" || got.Used["tokens"] != 10 || got.Evidence != "their list (me)" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := desk.Reconcile(ctx, l, values("id", id, "attempt", "0", "known", "1", "evidence", "again"), "me"); !errors.Is(err, desk.ErrNotUnknown) {
		t.Errorf("a second time: %v", err)
	}
	if found, err := desk.Audit(ctx, l, nil); err != nil || len(found.Wrong) > 0 || found.Unknown != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
