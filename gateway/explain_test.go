package gateway_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/observe/decisions"
	"github.com/spillway-dev/spillway/policy/boundary"
)

// explained asks the admin listener.
func (h *harness) explained(query url.Values) []decisions.Decision {
	h.Helper()
	res, err := http.Get(h.admin + "/explain?" + query.Encode())
	if err != nil {
		h.Fatal(err)
	}
	defer res.Body.Close()
	var doc gateway.Explained
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil || res.StatusCode != 200 || doc.Decisions == nil {
		h.Fatalf("%d, %v, %+v", res.StatusCode, err, doc)
	}
	return doc.Decisions
}

// ask sends a request with an id and returns the answer's.
func (h *harness) ask(id string) (status int, answered string) {
	h.Helper()
	req, _ := http.NewRequest("GET", h.url+"/", nil)
	if id != "" {
		req.Header.Set("X-Request-Id", id)
	}
	req.Header.Set("X-Tenant", "acme")
	res, err := h.client.Do(req)
	if err != nil {
		h.Error(err)
		return 0, ""
	}
	res.Body.Close()
	return res.StatusCode, res.Header.Get("X-Request-Id")
}

// Whoever was refused, turned out or answered late can ask why, by the id that its
// answer carries.
func TestWhy(t *testing.T) {
	let := make(chan struct{})
	came := make(chan string, 10)
	h := start(t, `  all: { slots: 1, deadline: 20s, budget: { latency: 20s, service: 10s }, tenant: { key: "header:X-Tenant", policy: wrr, queue: 1 } }
`, func(w http.ResponseWriter, r *http.Request) {
		came <- r.Header.Get("X-Request-Id")
		<-let
	})
	done := make(chan string, 2)
	go func() { _, id := h.ask("runs"); done <- id }()
	if id := <-came; id != "runs" {
		t.Errorf("the upstream knows it as %q", id)
	}
	go func() { _, id := h.ask("waits"); done <- id }()
	h.eventually("it to wait", func() bool { return h.Gate("app").States()[0].Waiting == 1 })
	status, id := h.ask("one-too-many")
	if status != 429 || id != "one-too-many" {
		t.Errorf("%d, id %q", status, id)
	}
	found := h.explained(url.Values{"id": {id}})
	if len(found) != 1 {
		t.Fatalf("%d decisions: %+v", len(found), found)
	}
	d := found[0]
	if d.Reason != "tenant_full" || d.Class != "all" || d.Resource != "app" || d.Tenant != "acme" || d.Stage != "offer" ||
		d.State.SlotsUsed != 1 || d.State.Slots != 1 || d.State.Waiting != 1 || d.State.TenantWaiting != 1 || d.State.TenantMost != 1 ||
		d.Timing.RetryAfterMS <= 0 || d.Instead.TenantQueue != 2 {
		t.Errorf("%+v", d)
	}
	h.ask("another")
	if n := len(h.explained(url.Values{"class": {"all"}, "reason": {"tenant_full"}, "tenant": {"acme"}, "since": {"1m"}})); n != 2 {
		t.Errorf("%d decisions by all that can be asked for, want 2", n)
	}
	for _, none := range []url.Values{{"id": {"runs"}}, {"class": {"other"}}, {"tenant": {""}}, {"reason": {"expired"}}} {
		if found := h.explained(none); len(found) != 0 {
			t.Errorf("%v finds %+v", none, found)
		}
	}
	if n := len(h.explained(url.Values{"limit": {"1"}})); n != 1 {
		t.Errorf("%d decisions, want one", n)
	}
	close(let)
	if a, b := <-done, <-done; a+b != "runswaits" && a+b != "waitsruns" {
		t.Errorf("those who were served got ids %q, %q", a, b)
	}
}

func (h *harness) eventually(what string, ok func() bool) {
	h.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(soon); !ok(); <-tick.C {
		if time.Now().After(end) {
			h.Fatalf("waited in vain for %s", what)
		}
	}
}

// Who is answered at its deadline, and whom the upstream failed, can ask too.
func TestWhyLateAndWhyFailed(t *testing.T) {
	var lines bytes.Buffer
	h := start(t, "  all: { slots: 2, deadline: 30ms }\n", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Request-Id") == "fails" {
			panic(http.ErrAbortHandler)
		}
		<-r.Context().Done()
	}, func(o *gateway.Options) { o.Logger = slog.New(slog.NewTextHandler(&lines, nil)) })
	if status, _ := h.ask("late"); status != 504 {
		t.Errorf("late: %d", status)
	}
	if d := h.explained(url.Values{"id": {"late"}}); len(d) != 1 || d[0].Reason != "timeout" || d[0].Stage != "running" || d[0].Timing.HeldMS < 30 {
		t.Errorf("late: %+v", d)
	}
	if status, _ := h.ask("fails"); status != 502 {
		t.Errorf("fails: %d", status)
	}
	if d := h.explained(url.Values{"id": {"fails"}}); len(d) != 1 || d[0].Reason != "failed" {
		t.Errorf("fails: %+v", d)
	}
	h.stop()
	for id, line := range map[string]string{"late": "msg=refused class=all reason=timeout request=late ", "fails": "class=all upstream=app request=fails "} {
		if !strings.Contains(lines.String(), line) {
			t.Errorf("nobody who reads the log can ask for %s:\n%s", id, lines.String())
		}
	}
}

// Every answer carries one id: the caller's if it is one, the upstream's own if it
// gives one, else a new one.
func TestEveryAnswerHasAnID(t *testing.T) {
	h := start(t, "  all: { slots: 2 }\n", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/own" {
			w.Header().Set("X-Request-Id", "the-upstreams")
		}
		w.Write([]byte(strings.Join(r.Header.Values("X-Request-Id"), ",")))
	})
	ask := func(path string, ids ...string) (answered []string, upstream string) {
		req, _ := http.NewRequest("GET", h.url+path, nil)
		req.Header["X-Request-Id"] = ids
		res, err := h.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b := make([]byte, 1000)
		n, _ := res.Body.Read(b)
		return res.Header.Values("X-Request-Id"), string(b[:n])
	}
	for _, c := range []struct {
		name string
		ids  []string
		kept bool
	}{
		{"none", nil, false}, {"one", []string{"abc-1"}, true}, {"two", []string{"abc-1", "abc-2"}, true},
		{"too long", []string{strings.Repeat("x", 129)}, false}, {"with a space", []string{"a b"}, false}, {"empty", []string{""}, false},
	} {
		got, upstream := ask("/", c.ids...)
		if len(got) != 1 || got[0] == "" || got[0] != upstream || c.kept != (len(c.ids) > 0 && got[0] == c.ids[0]) {
			t.Errorf("%s: answered %q, the upstream got %q", c.name, got, upstream)
		}
	}
	if got, _ := ask("/own", "mine"); len(got) != 1 || got[0] != "the-upstreams" {
		t.Errorf("an upstream with ids of its own: %q", got)
	}
}

// What is asked wrongly is told in one line.
func TestWhatMayBeAsked(t *testing.T) {
	h := start(t, "  all: { slots: 2 }\n", func(http.ResponseWriter, *http.Request) {})
	for query, says := range map[string]string{
		"reason=full": "docs/reasons", "since=yesterday": "5m", "since=-5m": "5m", "limit=0": "1 to 1000", "limit=x": "1 to 1000", "who=acme": "who",
	} {
		res, err := http.Get(h.admin + "/explain?" + query)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 1000)
		n, _ := res.Body.Read(b)
		res.Body.Close()
		if text := string(b[:n]); res.StatusCode != 400 || !strings.Contains(text, says) || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %d %q", query, res.StatusCode, text)
		}
	}
}

// How much is remembered is configured, and reconfigured while it works: what is
// remembered stays but for what there is no room for, and off forgets it all.
func TestHowMuchIsRemembered(t *testing.T) {
	app := serviceAt(t, says("app"))
	classes := func(explain string) string { return "  all: { upstream: app }\nexplain: " + explain + "\n" }
	r := startFile(t, app, app, classes("off"))
	if _, err := r.Operate("all", boundary.RefuseAll, time.Hour, "ann", "test"); err != nil {
		t.Fatal(err)
	}
	ids := func() string {
		var all []string
		for _, d := range r.explained(url.Values{}) {
			all = append(all, d.ID)
		}
		return strings.Join(all, " ")
	}
	for _, step := range []struct{ explain, ask, want string }{
		{"", "unheard", ""},
		{"{ remember: 3 }", "a b c d", "d c b"},
		{"{ remember: 4 }", "e", "e d c b"},
		{"{ remember: 2, keep: 1h }", "", "e d"},
		{"off", "f", ""},
		{"{ keep: 24h }", "g", "g"},
	} {
		if step.explain != "" {
			r.reload(fileOf(app, app, classes(step.explain)))
		}
		for id := range strings.FieldsSeq(step.ask) {
			if status, _ := r.ask(id); status != 503 {
				t.Fatalf("%s: %d", id, status)
			}
		}
		if got := ids(); got != step.want {
			t.Errorf("explain %q, asked %q: %q are remembered, want %q", step.explain, step.ask, got, step.want)
		}
	}
}
