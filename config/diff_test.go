package config

import (
	"os"
	"path/filepath"
	"reflect"
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
		"a raised limit": {"  a: { upstream: app, slots: 30 }", "  a: { upstream: app, slots: 40, borrow: 4 }",
			[]string{"classes.a.slots: 30 -> 40: who waits is started at once", "classes.a.borrow: none -> 4: who waits is started at once, where slots are idle"}},
		"less to borrow": {"  a: { upstream: app, borrow: 4 }", "  a: { upstream: app, borrow: 0 }",
			[]string{"classes.a.borrow: 4 -> none: a lower limit cancels nothing"}},
		"more budget": {"  a: { upstream: app, budget: { latency: 1s, service: 100ms } }", "  a: { upstream: app, budget: { latency: 2s, service: 50ms } }",
			[]string{"classes.a.budget.latency: 1s -> 2s: the room's bound follows", "classes.a.budget.service: 100ms -> 50ms: the room's bound follows"}},
		"less budget": {"  a: { upstream: app, budget: { latency: 2s, service: 50ms } }", "  a: { upstream: app, budget: { latency: 1s, service: 100ms } }",
			[]string{"classes.a.budget.latency: 2s -> 1s: the room's bound follows; who is over it by then stays",
				"classes.a.budget.service: 50ms -> 100ms: the room's bound follows; who is over it by then stays"}},
		"a service time that was measured": {"  a: { upstream: app }", "  a: { upstream: app, budget: { service: 1ms } }",
			[]string{"classes.a.budget.service: none -> 1ms: the room's bound follows; who is over it by then stays"}},
		"more memory, and more of it for each": {"  a: { upstream: app, memory: { limit: 1MiB, per_request: 1KiB } }", "  a: { upstream: app, memory: { limit: 2MiB, per_request: 2KiB } }",
			[]string{"classes.a.memory.limit: 1MiB -> 2MiB: the room's bound follows", "classes.a.memory.per_request: 1KiB -> 2KiB: the room's bound follows; who is over it by then stays"}},
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
	if want := []string{"listen: [:8080] -> [:8081]: needs a restart"}; !slices.Equal(got, want) {
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

// Whether a range went up or down can be said only where both its ends went the same way.
func TestTheWayOfAChange(t *testing.T) {
	for _, c := range []struct {
		from, to any
		want     way
	}{
		{Slots{Fixed: 4}, Slots{Fixed: 5}, up},
		{Slots{Fixed: 4}, Slots{Fixed: 3}, down},
		{Slots{Fixed: 4}, Slots{Min: 4, Max: 8}, up},
		{Slots{Fixed: 8}, Slots{Min: 4, Max: 8}, down},
		{Slots{Fixed: 6}, Slots{Min: 4, Max: 8}, sideways},
		{Slots{Min: 4, Max: 8}, Slots{Min: 4, Max: 9}, up},
		{Slots{Min: 4, Max: 8}, Slots{Min: 5, Max: 7}, sideways},
		{0, 4, up},
		{Duration(0), Duration(1), sideways}, // it was measured
		{Duration(2), Duration(0), sideways},
		{Bytes(2), Bytes(1), down},
		{"a", "b", sideways},
		{map[string]int{}, map[string]int{"a": 1}, sideways},
	} {
		if got := wayOf(reflect.ValueOf(c.from), reflect.ValueOf(c.to)); got != c.want {
			t.Errorf("%v -> %v: %d, want %d", c.from, c.to, got, c.want)
		}
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
