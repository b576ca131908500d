package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// simulated is what sim makes of a recording.
func simulated(t *testing.T, folder string, args ...string) (offered float64, said string) {
	t.Helper()
	file := "version: 1\nupstreams: { app: { url: \"http://127.0.0.1:1\", slots: 4, service: 10s } }\nclasses: { all: { match: { path: \"/*\" }, slots: 4 } }\n"
	if err := os.WriteFile(filepath.Join(folder, "spillway.yaml"), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := spillway(t, folder, append([]string{"sim", "--json", "--trace", "traffic.rec"}, args...)...)
	if code != exitDone {
		t.Fatalf("sim exits %d: %s", code, stderr)
	}
	doc := document(t, stdout)
	if reasons := doc["classes"].(map[string]any)["all"].(map[string]any)["reasons"].(map[string]any); reasons["served"] != doc["offered"] {
		t.Errorf("replayed at what it took, not at the file's 10 s, all are served: %v of %v", reasons, doc["offered"])
	}
	return doc["offered"].(float64), stderr
}

// TestServeRecord: what a gateway that is asked to end has recorded is whole, and
// sim replays it.
func TestServeRecord(t *testing.T) {
	service, folder := startSlow(t), t.TempDir()
	g := serve(t, folder, "--upstream", service.URL, "--slots", "4", "--record", "traffic.rec")
	for range 7 {
		get(t, g.front+"/")
	}
	if err := g.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if line := g.await(t, "recorded"); field(t, line, "requests") != "7" || field(t, line, "lost") != "0" {
		t.Errorf("it ends with %s", line)
	}
	for range g.lines {
	}
	<-g.done
	if offered, said := simulated(t, folder); offered != 7 || !strings.Contains(said, "trace: taken for recording of spillway from 20") || strings.Contains(said, "warning: trace") {
		t.Errorf("replayed %v requests, saying %s", offered, said)
	}
}

// TestKilledRecording: what was flushed before a kill -9 is there, and half of a
// block at the end is told of.
func TestKilledRecording(t *testing.T) {
	service, folder := startSlow(t), t.TempDir()
	g := serve(t, folder, "--upstream", service.URL, "--slots", "4", "--record", "traffic.rec")
	for range 5 {
		get(t, g.front+"/")
	}
	for !strings.Contains(get(t, g.admin+"/metrics").body, "\nspillway_recorded_total 5\n") {
		if t.Failed() {
			return
		}
	}
	if err := g.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range g.lines {
	}
	<-g.done
	f, err := os.OpenFile(filepath.Join(folder, "traffic.rec"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("\xf5BLKR half a block")
	f.Close()
	if offered, said := simulated(t, folder); offered != 5 || !strings.Contains(said, "1 damaged places: byte ") {
		t.Errorf("replayed %v requests, saying %s", offered, said)
	}
}

// TestRecordingOfOtherClasses: what is wrong, and what to do about it.
func TestRecordingOfOtherClasses(t *testing.T) {
	folder := t.TempDir()
	example, err := filepath.Abs("../../examples/replay/traffic.rec")
	if err != nil {
		t.Fatal(err)
	}
	written(t, folder, "spillway.yaml", "upstreams: { app: { url: \"http://127.0.0.1:1\", slots: 4 } }\nclasses:\n  checkout: { match: { path: \"/*\" }, slots: 4 }\n")
	_, stderr, code := spillway(t, folder, "sim", "--trace", example)
	if code != exitFailed || !strings.Contains(stderr, `the configuration has no class "search"; replay the recording as one class with --class NAME`) {
		t.Errorf("exits %d and says %s", code, stderr)
	}
	stdout, stderr, code := spillway(t, folder, "sim", "--trace", example, "--class", "checkout", "--json")
	if code != exitDone || document(t, stdout)["offered"] != 2199.0 {
		t.Errorf("as one class it exits %d: %s", code, stderr)
	}
}

// TestUnwritableRecording: it is said, and everybody is served.
func TestUnwritableRecording(t *testing.T) {
	service := startSlow(t)
	g := serve(t, t.TempDir(), "--upstream", service.URL, "--record", "no/such/folder/traffic.rec")
	if a := get(t, g.front+"/"); a.status != 200 {
		t.Errorf("GET / = %+v", a)
	}
	for !strings.Contains(get(t, g.admin+"/metrics").body, "\nspillway_record_lost_total 1\n") {
		if t.Failed() {
			return
		}
	}
}
