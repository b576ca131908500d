package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const smallLog = `10.0.0.1 - - [10/Oct/2000:13:55:36 +0000] "GET /image/1 HTTP/1.1" 200 5
10.0.0.2 - - [10/Oct/2000:13:55:46 +0000] "GET /image/2 HTTP/1.1" 200 5
10.0.0.2 - - [10/Oct/2000:13:56:46 +0000] "GET /cart HTTP/1.1" 200 5
`

func written(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestInitFromLog: what init prints is a file that check accepts and under which
// sim replays the log it came from.
func TestInitFromLog(t *testing.T) {
	folder := t.TempDir()
	written(t, folder, "access.log", smallLog)
	stdout, stderr, code := spillway(t, folder, "init", "--from", "access.log")
	if code != exitDone || !strings.Contains(stdout, "# /image/*: 67 % of all requests.") {
		t.Fatalf("init exits %d: %s%s", code, stdout, stderr)
	}
	written(t, folder, "spillway.yaml", stdout)
	if stdout, stderr, code := spillway(t, folder, "check"); code != exitDone || !strings.Contains(stdout, "ok, upstreams: 1, classes: 3") {
		t.Errorf("check exits %d: %s%s", code, stdout, stderr)
	}
	stdout, stderr, code = spillway(t, folder, "sim", "--trace", "access.log", "--service", "10ms", "--json")
	if code != exitDone {
		t.Fatalf("sim exits %d: %s", code, stderr)
	}
	classes := document(t, stdout)["classes"].(map[string]any)
	if image := classes["image"].(map[string]any); image["offered"] != 2.0 {
		t.Errorf("replayed %v", classes)
	}
	if !strings.Contains(stderr, "taken for common or combined format") || !strings.Contains(stderr, "within the second of its stamp") {
		t.Errorf("sim says %s", stderr)
	}
}

// TestInitFromLive: the same from a gateway that runs.
func TestInitFromLive(t *testing.T) {
	service, folder := startSlow(t), t.TempDir()
	g := serve(t, folder, "--upstream", service.URL, "--slots", "4")
	get(t, g.front+"/")
	stdout, stderr, code := spillway(t, folder, "init", "--from-live", strings.TrimPrefix(g.admin, "http://"), "--watch", "100ms")
	if code != exitDone || !strings.Contains(stdout, "slots: 4") || !strings.Contains(stdout, "too little was asked of it") {
		t.Fatalf("init exits %d: %s%s", code, stdout, stderr)
	}
	written(t, folder, "spillway.yaml", stdout)
	if stdout, stderr, code := spillway(t, folder, "check"); code != exitDone {
		t.Errorf("check exits %d: %s%s", code, stdout, stderr)
	}

	// What is missing is said before anybody has watched for an hour.
	two := t.TempDir()
	written(t, two, "spillway.yaml", fmt.Sprintf("listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nupstreams: { app: { url: %q } }\nclasses:\n  a: { match: { path: /a/* }, slots: 1 }\n  rest: { match: { path: /* }, slots: 1 }\n", service.URL))
	g = serve(t, two)
	_, stderr, code = spillway(t, two, "init", "--from-live", strings.TrimPrefix(g.admin, "http://"), "--watch", "1h")
	if code != exitUsage || !strings.Contains(stderr, "add its file with -c FILE") || strings.Contains(stderr, "watching") {
		t.Errorf("init exits %d and says %s", code, stderr)
	}
}

func TestInitFaults(t *testing.T) {
	folder := t.TempDir()
	written(t, folder, "nonsense", "a b c\n")
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "say where from"},
		{[]string{"access.log"}, "say where from"},
		{[]string{"--from", "nonsense", "--from-live"}, "say where from"},
		{[]string{"--from", "missing.log"}, "no such file"},
		{[]string{"--from", "nonsense"}, "no access log that is known"},
		{[]string{"--from-live", "127.0.0.1:1", "--watch", "1s"}, "no gateway answers at 127.0.0.1:1"},
		{[]string{"--from-live", "127.0.0.1:1", "--watch", "1ns"}, "--watch 1ns: from 100ms to 24h"},
	} {
		stdout, stderr, code := spillway(t, folder, append([]string{"init"}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.says) || stdout != "" {
			t.Errorf("init %q exits %d and says %s, want %s", c.args, code, stderr, c.says)
		}
	}
}

// TestLoadReplaysALog: load takes a log too, with the file's classes.
func TestLoadReplaysALog(t *testing.T) {
	service, folder := startSlow(t), t.TempDir()
	written(t, folder, "access.log", smallLog)
	written(t, folder, "spillway.yaml", "upstreams: { app: { url: \"http://127.0.0.1:1\", slots: 4 } }\nclasses:\n  image: { match: { path: \"/image/*\" }, slots: 2 }\n  rest: { match: { path: \"/*\" }, slots: 2 }\n")
	stdout, stderr, code := spillway(t, folder, "load", service.URL+"/{{.Class}}", "--trace", "access.log", "-c", "spillway.yaml", "--speed", "1000", "--lag-bound", "10s", "--json")
	if code != exitDone {
		t.Fatalf("load exits %d: %s", code, stderr)
	}
	if classes := document(t, stdout)["classes"].(map[string]any); len(classes) != 2 || classes["image"].(map[string]any)["offered"] != 2.0 {
		t.Errorf("sent %v", classes)
	}
}
