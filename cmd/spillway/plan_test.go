package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// planFolder holds the two examples and lists of measured times.
func planFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"tips.yaml", "store.yaml"} {
		text, err := os.ReadFile("../../examples/plan/" + name)
		if err != nil {
			t.Fatal(err)
		}
		written(t, folder, name, string(text))
	}
	var list strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&list, "%dus\n", i+1)
	}
	written(t, folder, "times.txt", list.String())
	written(t, folder, "wrong.txt", "1ms\n2\n")
	written(t, folder, "empty.txt", "")
	written(t, folder, "untimed.log", smallLog)
	written(t, folder, "table.csv", "at,took\n1,5\n2,7\n")
	written(t, folder, "two.yaml", "version: 1\nupstreams: { a: { url: \"http://127.0.0.1:1\" } }\nclasses:\n  x: { match: { path: /x } }\n  y: {}\n")
	return folder
}

// The store of the fallback lab: the figures that labs and papers agree on, under the
// names that scripts read.
func TestPlanJSON(t *testing.T) {
	folder := planFolder(t)
	stdout, stderr, code := spillway(t, folder, "plan", "-c", "tips.yaml", "--json")
	if code != exitDone {
		t.Fatalf("exits %d: %s", code, stderr)
	}
	doc := document(t, stdout)
	store := doc["upstreams"].(map[string]any)["store"].(map[string]any)
	for name, want := range map[string]float64{
		"sustainable_per_s": 895.3, "stable_below_per_s": 298.4, "metastable_below_per_s": 895.3,
		"stopping_per_s": 5126.6, "stopping_stable_per_s": 1708.9, "outage_s": 10,
	} {
		if got, ok := store[name].(float64); !ok || math.Abs(got-want) > 0.05 {
			t.Errorf("%s = %v, want %v", name, store[name], want)
		}
	}
	if store["state"] != "metastable" || store["recovery_s"] != nil {
		t.Errorf("%v, recovers in %v", store["state"], store["recovery_s"])
	}
	if doc["amplification_max"] != 9.0 || len(doc["warnings"].([]any)) < 4 {
		t.Errorf("amplification %v, warnings %v", doc["amplification_max"], doc["warnings"])
	}
	if score := doc["classes"].(map[string]any)["score"].(map[string]any); score["proposed_timeout_s"] != 1.5 {
		t.Errorf("proposed %v", score["proposed_timeout_s"])
	}
	stdout, _, _ = spillway(t, folder, "plan", "-c", "store.yaml", "--json", "--outage", "20ms")
	store = document(t, stdout)["upstreams"].(map[string]any)["store"].(map[string]any)
	if got := store["recovery_s"].(float64); store["state"] != "stable" || math.Abs(got-9/(5126.6-450)) > 1e-5 {
		t.Errorf("%v, after 20 ms it recovers in %v s", store["state"], got)
	}
}

func TestPlanProposesATimeoutFromAFile(t *testing.T) {
	folder := planFolder(t)
	proposed := func(args ...string) any {
		t.Helper()
		stdout, stderr, code := spillway(t, folder, append([]string{"plan", "--json", "-c", "store.yaml"}, args...)...)
		if code != exitDone {
			t.Fatalf("%v exits %d: %s", args, code, stderr)
		}
		return document(t, stdout)["classes"].(map[string]any)["score"].(map[string]any)["proposed_timeout_s"]
	}
	if got := proposed("--latency", "times.txt"); got != 0.00999 {
		t.Errorf("of a list %v, want 9.99 ms", got)
	}
	if got := proposed("--latency", "times.txt", "--false-timeouts", "1%"); got != 0.0099 {
		t.Errorf("at 1 %% false ones %v, want 9.9 ms", got)
	}
	if got := proposed("--latency", "table.csv", "--map", "at=at,service=took:ms", "--class", "score"); got != 0.007 {
		t.Errorf("of a table %v, want 7 ms", got)
	}
}

// The page shows from which queue on the example does not return.
func TestPlanPage(t *testing.T) {
	folder := planFolder(t)
	if _, stderr, code := spillway(t, folder, "plan", "-c", "tips.yaml", "--report", "plan.html"); code != exitDone {
		t.Fatalf("exits %d: %s", code, stderr)
	}
	page, err := os.ReadFile(folder + "/plan.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"Where the queue of store goes", "From 22 waiting on", "with a budget of 10 %", "stable_below_per_s", "call.retry_budget"} {
		if !strings.Contains(string(page), says) {
			t.Errorf("the page does not say %q", says)
		}
	}
}

// What is wrong is told in a line that says what would be right.
func TestPlanOfWhatCannotBeRead(t *testing.T) {
	folder := planFolder(t)
	for _, tt := range []struct{ args, says string }{
		{"--latency wrong.txt", `wrong.txt: line 2: "2" is no duration; write one with its unit, as in 2.9ms`},
		{"--latency empty.txt", "empty.txt"},
		{"--latency none.txt", "none.txt: no such file"},
		{"--latency untimed.log", "does not say how long requests took"},
		{"--latency times.txt --class nobody", "--class nobody: the file has no such class"},
		{"--class score", "add --latency FILE"},
		{"--false-timeouts 0.1", "write a share above 0% and below 100%, as in 0.1%"},
		{"--false-timeouts 100%", "write a share above 0% and below 100%"},
		{"--outage -1s", "--outage -1s: above 0 and up to 24h"},
	} {
		_, stderr, code := spillway(t, folder, append([]string{"plan", "-c", "store.yaml"}, strings.Fields(tt.args)...)...)
		if code != exitUsage || !strings.Contains(stderr, tt.says) {
			t.Errorf("%s: exits %d: %s", tt.args, code, stderr)
		}
	}
	_, stderr, code := spillway(t, folder, "plan", "-c", "two.yaml", "--latency", "times.txt")
	if code != exitUsage || !strings.Contains(stderr, "a list does not say of which class its calls are: add --class NAME") {
		t.Errorf("two classes and a list: exits %d: %s", code, stderr)
	}
}

// A configuration that works until one bad second passes check, and is warned of.
func TestCheckWarnsOfWhatTips(t *testing.T) {
	folder := planFolder(t)
	const says = "tips.yaml:6:10: warning: upstreams.store is metastable at the expected 450/s"
	stdout, stderr, code := spillway(t, folder, "check", "-c", "tips.yaml")
	if code != exitDone || !strings.Contains(stderr, says) {
		t.Errorf("exits %d: %s%s", code, stdout, stderr)
	}
	stdout, _, _ = spillway(t, folder, "check", "-c", "tips.yaml", "--json")
	if !strings.Contains(stdout, "upstreams.store is metastable") {
		t.Errorf("as JSON: %s", stdout)
	}
	if _, stderr, code := spillway(t, folder, "check", "-c", "store.yaml"); code != exitDone || stderr != "" {
		t.Errorf("the sound one: exits %d: %s", code, stderr)
	}
}
