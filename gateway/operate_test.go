package gateway_test

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/boundary"
)

// An operator gives up a class for a while: who asks is told why and when to come
// back, the others are served, what runs goes on, and all of it is seen.
func TestAnOperatorSwitchesAClass(t *testing.T) {
	app, came, let := held(t, "app")
	r := startFile(t, app, app, "  search: { match: { path: /search }, upstream: app, slots: 2, deadline: 20s }\n  rest: { upstream: app, deadline: 20s }\n")
	running := r.inBackground("/search", 1)
	<-came
	done, err := r.Operate("search", boundary.Degrade, 10*time.Second, "ann", "index rebuild")
	if err != nil || done.Mode != "degrade" {
		t.Fatalf("%+v, %v", done, err)
	}
	got := r.get("/search")
	want(t, got, 503, "operator", "refusal")
	if after, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || after < 9 || after > 30 {
		t.Errorf("come back in %q; the end is in 10 s", got.Header.Get("Retry-After"))
	}
	pools := r.adminGet("/debug/pools").body
	if !strings.Contains(pools, "app / search (operator: degrade for ") || !strings.Contains(pools, "by ann; why: index rebuild") {
		t.Errorf("/debug/pools says\n%s", pools)
	}
	metrics := r.adminGet("/metrics").body
	if strings.Contains(metrics, `spillway_operator_remaining_seconds{class="search",resource="app"} 0`) || !strings.Contains(metrics, `spillway_operator_remaining_seconds{class="rest",resource="app"} 0`) {
		t.Error("the metrics do not show that search is switched, and rest not")
	}
	// A reload, even one that moves the class, leaves it switched.
	other := serviceAt(t, says("store"))
	r.reload(fileOf(app, other, "  search: { match: { path: /search }, upstream: store, slots: 1 }\n  rest: { upstream: app, deadline: 20s }\n"))
	want(t, r.get("/search"), 503, "operator", "refusal")
	if _, err := r.Operate("search", boundary.AsConfigured, 0, "ann", ""); err != nil {
		t.Fatal(err)
	}
	want(t, r.get("/search"), 200, "served", "primary")
	let()
	want(t, <-running, 200, "served", "primary")
	want(t, r.get("/"), 200, "served", "primary")
}

func TestWhatAnOperatorMayAskFor(t *testing.T) {
	app := serviceAt(t, says("app"))
	r := startFile(t, app, app, "  search: { upstream: app }\n")
	ask := func(query, by string) *httptest.ResponseRecorder {
		req := httptest.NewRequest("POST", "http://127.0.0.1:9900/operate?"+query, nil)
		req.RemoteAddr = "127.0.0.1:4"
		req.Header.Set("Spillway-Operator", by)
		w := httptest.NewRecorder()
		r.Admin().ServeHTTP(w, req)
		return w
	}
	for query, says := range map[string]string{
		"class=search&mode=stop&for=1m":        "write off, degrade or refuse",
		"class=search&for=1m":                  "write off, degrade or refuse",
		"class=search&mode=refuse":             "a duration such as 10m",
		"class=search&mode=refuse&for=forever": "a duration such as 10m",
		"class=search&mode=refuse&for=0s":      "from 1s to 24h",
		"class=search&mode=refuse&for=25h":     "from 1s to 24h",
		"class=serach&mode=refuse&for=1m":      "there are search",
		"mode=refuse&for=1m":                   "there are search",
	} {
		if w := ask(query, "ann"); w.Code != 400 || !strings.Contains(w.Body.String(), says) || strings.Count(w.Body.String(), "\n") != 1 {
			t.Errorf("%s: %d, %s; want 400 and %q", query, w.Code, w.Body, says)
		}
	}
	if w := ask("class=search&mode=refuse&for=1m", ""); w.Code != 403 {
		t.Errorf("nobody: %d", w.Code)
	}
	want(t, r.get("/"), 200, "served", "primary")
	if w := ask("class=search&mode=refuse&for=1m&why=a%0Ab", "ann\n"); w.Code != 200 || strings.Count(w.Body.String(), "\n") != 1 {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
	want(t, r.get("/"), 503, "operator", "refusal")
	if w := ask("class=search&mode=off", "ann"); w.Code != 200 {
		t.Errorf("off: %d, %s", w.Code, w.Body)
	}
	want(t, r.get("/"), 200, "served", "primary")
}

// The signal switches the classes that are marked for it, and the next one
// switches them back.
func TestTheOperatorsSignalSwitchesMarkedClasses(t *testing.T) {
	app := serviceAt(t, says("app"))
	cfg, err := config.Parse("test.yaml", []byte("upstreams: { app: { url: \""+app+"\" } }\nclasses:\n"+
		"  a: { match: { path: /a }, operator: { signal: refuse, for: 1m } }\n  b: { match: { path: /b }, operator: { signal: degrade } }\n  rest: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	h := startConfig(t, cfg)
	all := func(a, b string) {
		t.Helper()
		for path, why := range map[string]string{"/a": a, "/b": b, "/": "served"} {
			if got := h.get(path); got.Header.Get("Spillway-Reason") != why {
				t.Errorf("%s: %s, want %s", path, got.Header.Get("Spillway-Reason"), why)
			}
		}
	}
	all("served", "served")
	if done := h.OperateMarked("SIGUSR1"); len(done) != 2 || done[0].ForS != 60 || done[1].ForS != 600 {
		t.Errorf("%+v", done)
	}
	all("operator", "operator")
	h.OperateMarked("SIGUSR1")
	all("served", "served")
	if _, err := h.Operate("a", boundary.RefuseAll, time.Minute, "ann", ""); err != nil {
		t.Fatal(err)
	}
	h.OperateMarked("SIGUSR1") // not all are switched: so all are
	all("operator", "operator")
	h.OperateMarked("SIGUSR1")
	all("served", "served")
	if done := start(t, "  all: {}\n", says("app")).OperateMarked("SIGUSR1"); len(done) != 0 {
		t.Errorf("nobody is marked, yet %+v", done)
	}
}
