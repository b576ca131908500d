package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each case is what the file says below one class, before and after, and what
// the diff says of it.
func TestADiffSaysWhatChangesAndWhatItMeans(t *testing.T) {
	const head = "version: 1\nlisten: \":8080\"\nupstreams: { app: { url: \"http://127.0.0.1:9001\" }, store: { url: \"http://127.0.0.1:9002\" } }\nclasses:\n"
	for name, c := range map[string]struct {
		from, to string
		want     []string
	}{
		"nothing":               {"  a: { upstream: app, slots: 40 }", "  a: { upstream: app, slots: 40 }", nil},
		"a default written out": {"  a: { upstream: app }", "  a: { upstream: app, slots: 20, order: adaptive }", nil},
		"a comment":             {"  a: { upstream: app }", "  # nothing else\n  a: { upstream: app }", nil},
		"a limit": {"  a: { upstream: app, slots: 40 }", "  a: { upstream: app, slots: 30 }",
			[]string{"classes.a.slots: 40 -> 30: a lower limit cancels nothing"}},
		"what follows from another key": {"  a: { upstream: app }", "  a: { upstream: app, deadline: 1s }", []string{
			"classes.a.budget.latency: 30s -> 1s: the room's bound follows; who is over it by then stays",
			"classes.a.deadline: 30s -> 1s: for requests offered from then on"}},
		"a class that comes and one that goes": {"  a: { upstream: app, match: { path: /a } }", "  b: { upstream: app, match: { path: /b } }", []string{
			"- classes.a: removed: takes in nothing more; what waits and runs is finished",
			"+ classes.b: added"}},
		"order": {"  a: { upstream: app, match: { path: /a } }\n  b: { upstream: app, match: { path: /b } }", "  b: { upstream: app, match: { path: /b } }\n  a: { upstream: app, match: { path: /a } }",
			[]string{"classes: a, b -> b, a: another order: the first that matches takes a request"}},
		"another upstream": {"  a: { upstream: app }", "  a: { upstream: store }",
			[]string{"classes.a.upstream: app -> store: what waits and runs stays where it is"}},
		"a word where a mapping was": {"  a: { upstream: app, when_full: { block: 50ms } }", "  a: { upstream: app, when_full: drop }",
			[]string{"classes.a.when_full: { block: 50ms } -> { drop: 503 }"}},
		"one weight of several": {"  a: { upstream: app, tenant: { key: client, weights: { x: 2, y: 3 } } }", "  a: { upstream: app, tenant: { key: client, weights: { x: 2, y: 4, z: 1 } } }",
			[]string{"classes.a.tenant.weights.y: 3 -> 4", "+ classes.a.tenant.weights.z: 1"}},
		"something that was not said": {"  a: { upstream: app }", "  a: { upstream: app, call: { timeout: 1s } }",
			[]string{"classes.a.call.timeout: none -> 1s"}},
		"for plan only": {"  a: { upstream: app }", "  a: { upstream: app, expect: { rate: 300 } }",
			[]string{"classes.a.expect.rate: none -> 300: for plan only"}},
	} {
		got := diffOf(t, head+c.from+"\n", head+c.to+"\n")
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestADiffSaysWhatNeedsARestart(t *testing.T) {
	got := diffOf(t, "listen: \":8080\"\n"+oneClass, "listen: \":8081\"\n"+oneClass)
	if want := []string{"listen: [{ address: :8080 }] -> [{ address: :8081 }]: needs a restart"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for key, want := range map[string]bool{
		"admin: \"127.0.0.1:1\"": true, "log: { level: warn }": true, "limits: { header: 8KiB }": true,
		"limits: { body: 8KiB }": false, "admin: { open_health: off }": false, "reload: { watch: off }": false, "ready: { shedding: 50% }": false,
	} {
		changes := Diff(must(Parse("old", []byte(oneClass))), must(Parse("new", []byte(key+"\n"+oneClass))))
		if len(changes) == 0 || changes[0].Restart != want {
			t.Errorf("%s: %v; needs a restart: want %v", key, changes, want)
		}
	}
}

// A password and the content of a file are never shown, but that they changed is.
func TestADiffKeepsSecrets(t *testing.T) {
	at := func(url string) string {
		return "upstreams: { app: { url: \"" + url + "\" } }\nclasses: { all: {} }\n"
	}
	got := diffOf(t, at("http://u:hunter2@h"), at("http://u:hunter3@h"))
	want := "upstreams.app.url: http://***@h -> http://***@h: calls that run keep the connection they have; what it stands for has changed"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
	folder := t.TempDir()
	secret := filepath.Join(folder, "url")
	both := make([]*Config, 2)
	for i, content := range []string{"http://u:hunter2@h", "http://u:hunter3@h"} {
		if err := os.WriteFile(secret, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		both[i] = must(Parse(filepath.Join(folder, "x.yaml"), []byte(at("file:url"))))
	}
	changes := Diff(both[0], both[1])
	if len(changes) != 1 || strings.Contains(changes[0].String(), "hunter") || !strings.Contains(changes[0].String(), "file:url -> file:url") {
		t.Errorf("got %v", changes)
	}
	if want := []string{filepath.Join(folder, "x.yaml"), secret}; !slices.Equal(both[0].Files(), want) {
		t.Errorf("the configuration rests on %q, want %q", both[0].Files(), want)
	}
}

func diffOf(t *testing.T, from, to string) []string {
	t.Helper()
	var got []string
	for _, c := range Diff(must(Parse("old", []byte(from))), must(Parse("new", []byte(to)))) {
		got = append(got, c.String())
	}
	return got
}

func must(c *Config, err error) *Config {
	if err != nil {
		panic(err)
	}
	return c
}
