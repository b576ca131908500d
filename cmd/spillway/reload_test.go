package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// writeServed writes the file of a gateway that does not look at it by itself.
func writeServed(t *testing.T, path, upstream string, slots int, more string) {
	t.Helper()
	text := fmt.Sprintf("version: 1\nreload: { watch: off }\nupstreams: { app: { url: %q, slots: 9 } }\nclasses:\n  all: { match: { path: \"/*\" }, slots: %d%s }\n", upstream, slots, more)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReload: a running process takes its file over on SIGHUP and when asked,
// and keeps what it has when the file is wrong, or would need a restart.
func TestReload(t *testing.T) {
	service := startSlow(t)
	folder := t.TempDir()
	path := folder + "/spillway.yaml"
	writeServed(t, path, service.URL, 4, "")
	g := serve(t, folder)
	admin := strings.TrimPrefix(g.admin, "http://")

	writeServed(t, path, service.URL, 5, "")
	if err := g.process.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	g.await(t, "reloaded")
	if line := g.await(t, "changed"); !strings.Contains(line, "classes.all.slots: 4 -> 5") {
		t.Errorf("on SIGHUP it says %q", line)
	}

	writeServed(t, path, service.URL, 3, "")
	stdout, stderr, code := spillway(t, folder, "reload", "--admin", admin, "--dry")
	if code != exitDone || !strings.HasPrefix(stdout, "would be applied: generation 3") || !strings.Contains(stdout, "classes.all.slots: 5 -> 3: a lower limit cancels nothing") {
		t.Errorf("reload --dry exits %d, says %s%s", code, stdout, stderr)
	}
	stdout, stderr, code = spillway(t, folder, "reload", "--admin", admin, "--json")
	doc := document(t, stdout)
	if code != exitDone || doc["result"] != "applied" || doc["generation"] != 3.0 {
		t.Errorf("reload exits %d, says %s%s", code, stdout, stderr)
	}

	for name, more := range map[string]string{"wrong": ", slts: 3", "": ""} {
		writeServed(t, path, service.URL, 4, more)
		if name == "" {
			file, _ := os.ReadFile(path)
			os.WriteFile(path, append([]byte("log: { level: warn }\n"), file...), 0o644)
		}
		_, stderr, code = spillway(t, folder, "reload", "--admin", admin)
		if code != exitUsage || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: reload exits %d, says %s", name, code, stderr)
		}
	}
	if a := get(t, g.admin+"/debug/pools"); !strings.Contains(a.body, "0 of 3 held") {
		t.Errorf("after two wrong files: %s", a.body)
	}
}

// TestOperate: a class is given up by hand, by command and by signal, and comes
// back.
func TestOperate(t *testing.T) {
	service := startSlow(t)
	folder := t.TempDir()
	writeServed(t, folder+"/spillway.yaml", service.URL, 4, ", operator: { signal: refuse }")
	g := serve(t, folder)
	admin := strings.TrimPrefix(g.admin, "http://")
	for _, step := range []struct{ args, says, reason string }{
		{"operate all refuse --for 10m --why repair", "all: refuse until ", "operator"},
		{"operate all off", "all: as configured, by ", "served"},
	} {
		stdout, stderr, code := spillway(t, folder, append(strings.Fields(step.args), "--admin", admin)...)
		if code != exitDone || !strings.HasPrefix(stdout, step.says) {
			t.Errorf("%s: exits %d, says %s%s", step.args, code, stdout, stderr)
		}
		if a := get(t, g.front+"/"); a.reason != step.reason {
			t.Errorf("after %s: %+v", step.args, a)
		}
	}
	for _, want := range []string{"operator", "served"} {
		for _, s := range operatorSignal {
			if err := g.process.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			g.await(t, "by=signal")
			if a := get(t, g.front+"/"); a.reason != want {
				t.Errorf("after the signal: %+v, want %s", a, want)
			}
		}
	}
	if _, stderr, code := spillway(t, folder, "operate", "search", "refuse", "--for", "1m", "--admin", admin); code != exitFailed || !strings.Contains(stderr, "there are all") {
		t.Errorf("no such class: exits %d, says %s", code, stderr)
	}
}

func TestReloadWithoutAGateway(t *testing.T) {
	for args, code := range map[string]int{
		"reload --admin 127.0.0.1:1":                            exitFailed,
		"reload --admin unix:/nowhere.sock":                     exitFailed,
		"reload --admin nonsense":                               exitUsage,
		"reload --token-file nowhere":                           exitUsage,
		"operate all":                                           exitUsage,
		"operate all stop --for 1m":                             exitUsage,
		"operate all refuse":                                    exitUsage,
		"reload now":                                            exitUsage,
		"check --against nowhere.yaml":                          exitUsage,
		"check --against spillway.yaml":                         exitDone,
		"check --json -c spillway.yaml --against spillway.yaml": exitDone,
	} {
		folder := t.TempDir()
		writeServed(t, folder+"/spillway.yaml", "http://127.0.0.1:1", 4, "")
		_, stderr, got := spillway(t, folder, strings.Fields(args)...)
		if got != code || code != exitDone && strings.Count(stderr, "\n") > 2 {
			t.Errorf("%s: exits %d, want %d, says %s", args, got, code, stderr)
		}
	}
}

func TestCheckAgainst(t *testing.T) {
	folder := t.TempDir()
	writeServed(t, folder+"/old.yaml", "http://127.0.0.1:1", 40, "")
	writeServed(t, folder+"/new.yaml", "http://127.0.0.1:1", 30, "")
	stdout, _, code := spillway(t, folder, "check", "-c", "new.yaml", "--against", "old.yaml")
	if want := "classes.all.slots: 40 -> 30: a lower limit cancels nothing\n"; code != exitDone || stdout != want {
		t.Errorf("exits %d, says %q, want %q", code, stdout, want)
	}
}
