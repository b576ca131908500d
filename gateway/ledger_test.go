package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/desk"
	"github.com/spillway-dev/spillway/ledger/sqlite"
	"github.com/spillway-dev/spillway/policy/quota"
)

// onLedger is a configuration with quotas on a ledger in a file; further keys of it
// come below.
func onLedger(t *testing.T, file string, slots int, more string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("test.yaml", fmt.Appendf(nil, `
upstreams: { app: { url: "http://127.0.0.1:1", slots: 8 } }
classes: { all: { slots: 8, quota: q } }
quotas: { q: { concurrent: %d } }
ledger: { url: "sqlite:%s"%s }
`, slots, file, more))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// crashed leaves a ledger as a process leaves it that is killed: with a call that was
// reserved, and one that was started.
func crashed(t *testing.T, file string) {
	t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(ctx, s, "killed")
	if err != nil {
		t.Fatal(err)
	}
	ref := quota.Ref{Name: "q/concurrent", Limit: quota.Limit{Unit: quota.Concurrent, Most: 2}}
	for _, id := range []string{"reserved", "started"} {
		if g, err := l.Reserve(ctx, ledger.Ask{ID: id, Budgets: []quota.Ref{ref}, Amounts: quota.One()}); err != nil || !g.OK() {
			t.Fatal(g, err)
		}
	}
	if err := errors.Join(l.Start(ctx, "started", 0), l.Close()); err != nil {
		t.Fatal(err)
	}
}

// listed asks the admin listener for the ledger's list.
func (h *harness) listed(query string) (list desk.Listing) {
	h.Helper()
	a := h.adminGet("/ledger?"+query, "Accept", "application/json")
	if err := json.Unmarshal([]byte(a.body), &list); err != nil {
		h.Fatalf("%d: %v: %s", a.StatusCode, err, a.body)
	}
	return list
}

// What a process that was killed had started is unknown when the next one runs; it is
// listed, and ends by evidence that an operator brings, and by nothing else.
func TestAnOperatorEndsWhatIsUnknown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "l.db")
	crashed(t, file)
	h := startConfig(t, onLedger(t, file, 2, ""))
	list := h.listed("state=all")
	states := map[string]string{}
	for _, c := range list.Calls {
		states[c.ID] = c.State
	}
	if states["reserved"] != "released" || states["started"] != "unknown" || list.Terms.Version != 1 || len(list.Owners) != 1 || list.Budgets[0].Free != 1 {
		t.Fatalf("%+v", list)
	}
	if a := h.adminGet("/ledger/call?id=started"); a.StatusCode != 200 || !strings.Contains(a.body, "its gateway is gone") {
		t.Errorf("%d: %s", a.StatusCode, a.body)
	}
	end := url.Values{"id": {"started"}, "notstarted": {"1"}, "evidence": {"their list of 12:00"}}
	for name, c := range map[string]struct {
		query  string
		status int
		header []string
	}{
		"nobody asks":     {end.Encode(), http.StatusForbidden, nil},
		"no evidence":     {"id=started&known=1", http.StatusBadRequest, []string{gateway.HeaderOperator, "kim"}},
		"no such call":    {"id=nobody&known=1&evidence=x", http.StatusNotFound, []string{gateway.HeaderOperator, "kim"}},
		"it has ended":    {"id=reserved&known=1&evidence=x", http.StatusConflict, []string{gateway.HeaderOperator, "kim"}},
		"a web page asks": {end.Encode(), http.StatusForbidden, []string{gateway.HeaderOperator, "kim", "Sec-Fetch-Site", "cross-site"}},
	} {
		if a := h.adminPost("/ledger/reconcile?"+c.query, c.header...); a.StatusCode != c.status {
			t.Errorf("%s: %d, want %d: %s", name, a.StatusCode, c.status, a.body)
		}
	}
	if a := h.adminPost("/ledger/reconcile?"+end.Encode(), gateway.HeaderOperator, "kim"); a.StatusCode != 200 || !strings.Contains(a.body, "their list of 12:00 (kim)") {
		t.Errorf("%d: %s", a.StatusCode, a.body)
	}
	if list := h.listed(""); len(list.Calls) != 0 || list.Budgets[0].Free != 2 {
		t.Errorf("%+v", list)
	}
	if a := h.adminGet("/ledger/audit"); a.StatusCode != 200 || !strings.Contains(a.body, "every counter is the sum") {
		t.Errorf("%d: %s", a.StatusCode, a.body)
	}
	if a := h.adminGet("/ledger?delete=1"); a.StatusCode != http.StatusBadRequest {
		t.Errorf("%d: %s", a.StatusCode, a.body)
	}
}

func (h *harness) adminPost(path string, header ...string) got {
	h.Helper()
	req, err := http.NewRequest(http.MethodPost, h.admin+path, nil)
	if err != nil {
		h.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	a, err := read(h.client.Do(req))
	if err != nil {
		h.Fatal(err)
	}
	return a
}

// A reload changes what the ledger holds, or is refused: as ledger.on_other_config
// says.
func TestQuotasAreReloaded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "l.db")
	h := startConfig(t, onLedger(t, file, 2, ""))
	if _, err := h.Reconfigure(onLedger(t, file, 5, ""), "a test"); err != nil {
		t.Fatal(err)
	}
	if list := h.listed(""); list.Terms.Version != 2 {
		t.Errorf("%+v", list.Terms)
	}
	h.stop()

	const refuse = ", on_other_config: refuse"
	if _, err := gateway.New(onLedger(t, file, 3, refuse), gateway.Options{}); err == nil || !strings.Contains(err.Error(), "q/concurrent is 5 at once there and 3 at once here") {
		t.Errorf("it starts on other quotas: %v", err)
	}
	h = startConfig(t, onLedger(t, file, 5, refuse))
	if r, err := h.Reconfigure(onLedger(t, file, 3, refuse), "a test"); err == nil || r.Result != "refused" {
		t.Errorf("%+v, %v", r, err)
	}
	if list := h.listed(""); list.Terms.Version != 2 {
		t.Errorf("%+v", list.Terms)
	}
	h.stop()

	h = startConfig(t, onLedger(t, file, 3, ", on_other_config: adopt"))
	if list := h.listed(""); list.Terms.Version != 2 {
		t.Errorf("%+v", list.Terms)
	}
}

// A second gateway on the same file is refused, and says what would be right.
func TestAFileHasOneGateway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "l.db")
	startConfig(t, onLedger(t, file, 2, ""))
	_, err := gateway.New(onLedger(t, file, 2, ""), gateway.Options{})
	if err == nil || !errors.Is(err, sqlite.ErrInUse) || !strings.Contains(err.Error(), "PostgreSQL") {
		t.Errorf("%v", err)
	}
}
