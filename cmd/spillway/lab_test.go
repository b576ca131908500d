package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// From a lab's records to a verdict on them, as somebody would do it by hand.
func TestLabToVerify(t *testing.T) {
	folder := t.TempDir()
	for _, lab := range []string{"lab fair --raw", "lab pool --seconds 10 --arms bound-derived,full-block --raw",
		"lab fallback --seconds 10 --rounds 3 --arms H3-fb25,H4-r2 --raw"} {
		dir := strings.Fields(lab)[1]
		if out, err, code := spillway(t, folder, append(strings.Fields(lab), dir)...); code != exitDone {
			t.Fatalf("%s: exit %d\n%s\n%s", lab, code, out, err)
		}
		out, _, code := spillway(t, folder, "lab", "verify", dir)
		if code != exitDone || !strings.Contains(out, " 0 mismatches") {
			t.Errorf("%s: exit %d: %s", lab, code, out)
		}
		if _, err, code := spillway(t, folder, append(strings.Fields(lab), dir)...); code == exitDone || !strings.Contains(err, "not empty") {
			t.Errorf("records were written over: exit %d, %s", code, err)
		}
		path := filepath.Join(folder, dir, "results.json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, []byte(`"verdict": "held"`), []byte(`"verdict": "wrong"`), 1)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		out, _, code = spillway(t, folder, "lab", "verify", dir)
		if code != exitCheck || !strings.Contains(out, "written wrong, found held") || !strings.Contains(out, " 1 mismatches") {
			t.Errorf("%s: a flipped verdict: exit %d: %s", lab, code, out)
		}
		out, _, code = spillway(t, folder, "lab", "verify", dir, "--json")
		if found := document(t, out)["mismatches"].([]any); code != exitCheck || len(found) != 1 {
			t.Errorf("%s: --json: exit %d: %s", lab, code, out)
		}
	}
}

// One arm's figures stand at the top of lab fair's document.
func TestLabFairJSON(t *testing.T) {
	for args, want := range map[string]map[string]float64{
		"--policy fifo":                 {"A": 12, "B": 0, "C": 0},
		"--policy priority":             {"A": 0, "B": 6, "C": 6},
		"--policy rr":                   {"A": 4, "B": 4, "C": 4},
		"":                              {"A": 6, "B": 3, "C": 3},
		"--policy wrr --weights 2:1:1":  {"A": 6, "B": 3, "C": 3},
		"--policy wrr --retry-copies 2": {"A": 6, "B": 3, "C": 3},
		"--same-key-retries":            {"A": 6, "B": 3, "C": 3},
		"--policy wrr --deadline 1s":    {"A": 2, "B": 1, "C": 0},
		"--policy wrr --deadline 1":     {"A": 2, "B": 1, "C": 0},
		"--policy wrr --slots 6":        {"A": 12, "B": 6, "C": 6},
		"--policy drr --burst 0 --weights B=3 --slots 1": {"A": 0, "B": 3, "C": 1},
	} {
		out, _, code := spillway(t, t.TempDir(), append([]string{"lab", "fair", "--json"}, strings.Fields(args)...)...)
		if code != exitDone {
			t.Errorf("%s: exit %d", args, code)
			continue
		}
		doc := document(t, out)
		for tenant, n := range want {
			if got := doc["completed"].(map[string]any)[tenant]; got != n {
				t.Errorf("lab fair %s: %s completed %v, want %v", args, tenant, got, n)
			}
		}
		for _, field := range []string{"policy", "weights", "slots", "deadline_s", "retry_copies", "offered", "rejected", "completed", "expired",
			"peak_queue", "queue_history", "normalised_share", "jain", "worst_lag"} {
			if _, there := doc[field]; !there {
				t.Errorf("lab fair %s --json has no %s", args, field)
			}
		}
	}
}

func TestLabOnATerminal(t *testing.T) {
	for _, args := range []string{"lab fair --more", "lab pool --seconds 1", "lab fallback --seconds 10 --rounds 2"} {
		out, _, code := spillway(t, t.TempDir(), strings.Fields(args)...)
		if code != exitDone {
			t.Errorf("%s: exit %d", args, code)
		}
		for line := range strings.Lines(out) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 && !strings.HasPrefix(line, "repeat:") {
				t.Errorf("%s: a line of %d columns: %s", args, n, line)
			}
			if strings.Contains(line, "~") {
				t.Errorf("%s: a word was cut: %s", args, line)
			}
		}
		wants := []string{"predictions held", "Not tested: ", "Added after the results were seen: ", "repeat: spillway lab"}
		if !strings.HasPrefix(args, "lab fallback") { // all of its arms are there
			wants = append(wants, "Not yet")
		}
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not say %q", args, want)
			}
		}
	}
}

func TestLabsThatAreNotThereYet(t *testing.T) {
	for _, args := range []string{"lab serve", "lab export x", "lab fair --ledger", "lab pool --arms full-persist"} {
		if _, err, code := spillway(t, t.TempDir(), strings.Fields(args)...); code != exitUsage || !strings.Contains(err, "yet") {
			t.Errorf("%s: exit %d, %s", args, code, err)
		}
	}
}
