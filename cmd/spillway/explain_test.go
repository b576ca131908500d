package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestExplain: who was refused asks a running process why, by the id of its
// answer, and is told in words and as JSON.
func TestExplain(t *testing.T) {
	service := startSlow(t)
	folder := t.TempDir()
	text := fmt.Sprintf("version: 1\nupstreams: { app: { url: %q, slots: 1 } }\nclasses:\n", service.URL) +
		"  all: { match: { path: \"/*\" }, slots: 1, deadline: 100ms }\n"
	if err := os.WriteFile(folder+"/spillway.yaml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	g := serve(t, folder)
	get := func(path string) *http.Response {
		res, err := http.Get(g.front + path)
		if err != nil {
			t.Error(err)
			return &http.Response{Header: http.Header{}}
		}
		res.Body.Close()
		return res
	}
	held := make(chan *http.Response)
	go func() { held <- get("/slow") }()
	<-service.came
	res := get("/")
	defer func() { <-held }()
	defer close(service.release)
	id, why := res.Header.Get("X-Request-Id"), res.Header.Get("Spillway-Reason")
	if id == "" || why != "expired" {
		t.Fatalf("%s for %q, id %q", res.Status, why, id)
	}
	admin := strings.TrimPrefix(g.admin, "http://")
	stdout, stderr, code := spillway(t, folder, "explain", "--admin", admin, id)
	if code != exitDone || !strings.Contains(stdout, fmt.Sprintf(": %s, class all, request %s\n", why, id)) || !strings.Contains(stdout, "\n  why       ") {
		t.Errorf("explain exits %d, says\n%s%s", code, stdout, stderr)
	}
	stdout, stderr, code = spillway(t, folder, "explain", "--admin", admin, "--class", "all", "--reason", why, "--since", "5m", "--json")
	if found, _ := document(t, stdout)["decisions"].([]any); code != exitDone || len(found) != 1 {
		t.Errorf("explain --json exits %d, says\n%s%s", code, stdout, stderr)
	}
	for _, args := range [][]string{{"no-such-id"}, {"--tenant", "nobody"}, {"--reason", "full"}, {"--limit", "0"}} {
		_, stderr, code := spillway(t, folder, append([]string{"explain", "--admin", admin}, args...)...)
		if code != exitFailed || strings.Count(stderr, "\n") != 1 {
			t.Errorf("explain %v exits %d, says %s", args, code, stderr)
		}
	}
}
