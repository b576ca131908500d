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

// Who lacks the admin token is told how a command gets it.
func TestTheTokenIsAskedFor(t *testing.T) {
	folder := t.TempDir()
	const token = "c0ffee0123456789c0ffee0123456789"
	written(t, folder, "token", token+"\n")
	written(t, folder, "spillway.yaml", "version: 1\nlisten: 127.0.0.1:0\nadmin: { address: 127.0.0.1:0, token: file:token }\n"+
		"upstreams: { app: { url: http://127.0.0.1:1 } }\nclasses: { all: { slots: 1 } }\n")
	g := serve(t, folder)
	ask := func(more ...string) (int, string) {
		_, stderr, code := spillway(t, folder, append([]string{"override", "ls", "--admin", strings.TrimPrefix(g.admin, "http://")}, more...)...)
		return code, stderr
	}
	if code, said := ask(); code != exitFailed || !strings.Contains(said, "--token-file") || !strings.Contains(said, adminTokenEnv) {
		t.Errorf("without it, it exits %d and says %q", code, said)
	}
	if code, said := ask("--token-file", "token"); code != exitDone {
		t.Errorf("with it, it exits %d and says %q", code, said)
	}
}
