package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// shownPool is a class as /debug/pools shows it.
type shownPool struct {
	Class string
	Slots struct{ Guaranteed int }
	Room  struct {
		Bound     int
		BoundFrom string `json:"bound_from"`
	}
	Measured struct {
		HoldingMS float64 `json:"holding_ms"`
		ServiceMS float64 `json:"service_ms"`
	}
	Operator *struct {
		Mode, By, Why string
		ForS          float64 `json:"for_s"`
	}
	Offered int
}

func poolsOf(t *testing.T, admin string) map[string]shownPool {
	t.Helper()
	req, _ := http.NewRequest("GET", admin+"/debug/pools", nil)
	req.Header.Set("Accept", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var doc struct{ Pools []shownPool }
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]shownPool)
	for _, p := range doc.Pools {
		all[p.Class] = p
	}
	return all
}

// TestASuccessorBeginsWhereTheOtherWas: a class that an operator switched stays
// switched, an override stays in force for the rest of its time, a client that has
// used up what it may is still refused, and rooms are as large as measured.
func TestASuccessorBeginsWhereTheOtherWas(t *testing.T) {
	service := startSlow(t)
	folder := t.TempDir()
	text := "version: 1\nreload: { watch: off }\nclients: { rate: { burst: 60, per_second: 0.001 } }\nupstreams: { app: { url: \"" + service.URL + "\" } }\n" +
		"classes:\n  search: { match: { path: /search }, slots: 3 }\n  all: { match: { path: \"/*\" }, slots: 4, budget: { latency: 20ms } }\n"
	if err := os.WriteFile(filepath.Join(folder, "spillway.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g := serve(t, folder, "--drain-limit", "5s")
	admin := strings.TrimPrefix(g.admin, "http://")
	told := func(args ...string) {
		t.Helper()
		if stdout, stderr, code := spillway(t, folder, append(args, "--admin", admin)...); code != exitDone {
			t.Fatalf("%s: exits %d, says %s%s", args, code, stdout, stderr)
		}
	}
	for range 60 {
		if a := get(t, g.front+"/"); a.reason != "served" {
			t.Fatalf("%+v", a)
		}
	}
	if a := get(t, g.front+"/"); a.reason != "rate_limited" {
		t.Fatalf("%+v", a)
	}
	told("operate", "search", "refuse", "--for", "1h", "--why", "index rebuild")
	told("override", "set", "search", "slots=2", "--for", "1h", "--why", "failover")
	before := poolsOf(t, g.admin)

	http.DefaultClient.CloseIdleConnections() // they are the old process's
	if err := g.process.Process.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	if line := g.await(t, "took over what the process before this one knew"); !strings.Contains(line, "clients=1 operated=1 overrides=1") {
		t.Errorf("it says %q", line)
	}
	pid, err := strconv.Atoi(field(t, g.await(t, "a new process serves"), "pid"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	g.await(t, "msg=left")

	after := poolsOf(t, g.admin)
	if after["all"].Offered != 0 {
		t.Fatalf("this is the old process: %+v", after["all"])
	}
	was, is := before["all"], after["all"]
	// A bound follows what is measured once that has moved by 1/64.
	if is.Measured != was.Measured || is.Measured.HoldingMS <= 0 || is.Room.BoundFrom != was.Room.BoundFrom || 32*max(is.Room.Bound-was.Room.Bound, was.Room.Bound-is.Room.Bound) > was.Room.Bound+32 {
		t.Errorf("measured %+v, room %+v; before %+v, %+v", is.Measured, is.Room, was.Measured, was.Room)
	}
	search := after["search"]
	if o := search.Operator; o == nil || o.Mode != "refuse" || o.Why != "index rebuild" || o.ForS <= 0 || o.ForS > before["search"].Operator.ForS || o.By != before["search"].Operator.By {
		t.Errorf("switched by hand: %+v, before %+v", o, before["search"].Operator)
	}
	if search.Slots.Guaranteed != 2 {
		t.Errorf("%d slots; they are overridden", search.Slots.Guaranteed)
	}
	if a := get(t, g.front+"/"); a.reason != "rate_limited" {
		t.Errorf("a client that has used up its burst: %+v", a)
	}
	stdout, _, _ := spillway(t, folder, "override", "ls", "--admin", admin)
	if !strings.HasPrefix(stdout, "search: slots=2 until ") || !strings.Contains(stdout, "  set       search: slots=2") {
		t.Errorf("overrides: %s", stdout)
	}
	told("override", "clear", "search")
	told("operate", "search", "off")
	if p := poolsOf(t, g.admin)["search"]; p.Slots.Guaranteed != 3 || p.Operator != nil {
		t.Errorf("given back: %+v", p)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	g.await(t, "drained")
}
