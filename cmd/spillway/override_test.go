package main

import (
	"strings"
	"testing"
)

// TestOverride: limits of a class are overridden for a time, listed, and given
// back, by command; the shell is offered what there is.
func TestOverride(t *testing.T) {
	service := startSlow(t)
	folder := t.TempDir()
	writeServed(t, folder+"/spillway.yaml", service.URL, 4, "")
	g := serve(t, folder)
	admin := strings.TrimPrefix(g.admin, "http://")
	for _, step := range []struct {
		args  []string
		says  string
		slots string // what /debug/pools shows afterwards
	}{
		{[]string{"ls"}, "no override is in force\n", "of 4 held"},
		{[]string{"set", "all", "slots=2", "budget.latency=200ms", "--for", "10m", "--why", "database failover"}, "all: budget.latency=200ms slots=2 until ", "of 2 held"},
		{[]string{"set", "all", "slots=3", "--for", "10m", "--why", "a little more"}, "all: slots=3 until ", "of 3 held"},
		{[]string{"ls"}, "all: slots=3 until ", "of 3 held"},
		{[]string{"clear", "all", "--why", "over"}, "all: as the file says\n", "of 4 held"},
	} {
		stdout, stderr, code := spillway(t, folder, append(append([]string{"override"}, step.args...), "--admin", admin)...)
		if code != exitDone || !strings.HasPrefix(stdout, step.says) {
			t.Errorf("%s: exits %d, says %s%s", step.args, code, stdout, stderr)
		}
		if a := get(t, g.admin+"/debug/pools"); !strings.Contains(a.body, step.slots) {
			t.Errorf("after %s: %s", step.args, a.body)
		}
	}

	stdout, _, _ := spillway(t, folder, "override", "ls", "--json", "--admin", admin)
	doc := document(t, stdout)
	if live, trail := doc["overrides"].([]any), doc["trail"].([]any); len(live) != 0 || len(trail) != 3 {
		t.Errorf("in force %v, trail %v", live, trail)
	}
	stdout, _, _ = spillway(t, folder, "override", "set", "all", "slots=2", "--for", "10m", "--why", "again", "--json", "--admin", admin)
	if doc := document(t, stdout); doc["class"] != "all" || doc["end"] == nil {
		t.Errorf("set says %v", doc)
	}

	for _, offered := range []struct{ words, wants string }{
		{"override set", "all\n"},
		{"override set all slots=2", "budget.latency=\n"},
		{"override clear", "all\n"},
		{"operate", "all\n"},
		{"operate all", "degrade\n"},
	} {
		words := append([]string{"__complete"}, strings.Fields(offered.words)...)
		if stdout, _, _ := spillway(t, folder, append(words, "--admin", admin, "")...); !strings.Contains(stdout, offered.wants) {
			t.Errorf("after %q the shell is offered %q", offered.words, stdout)
		}
	}

	for _, refused := range []struct{ args, says string }{
		{"set nobody slots=2 --for 1m --why x", "there are all"},
		{"set all slots=0 --for 1m --why x", "give more"},
		{"set all slots=2 --for 48h --why x", "belongs into the file"},
		{"clear nobody", "has no override"},
	} {
		_, stderr, code := spillway(t, folder, append(append([]string{"override"}, strings.Fields(refused.args)...), "--admin", admin)...)
		if code != exitFailed || !strings.Contains(stderr, refused.says) {
			t.Errorf("%s: exits %d, says %s", refused.args, code, stderr)
		}
	}
}
