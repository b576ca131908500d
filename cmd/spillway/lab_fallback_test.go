package main

import (
	"strings"
	"testing"
)

func TestLabFallbackJSON(t *testing.T) {
	out, _, code := spillway(t, t.TempDir(), "lab", "fallback", "--json", "--seconds", "10", "--rounds", "2", "--rate", "450", "--timeout", "25ms",
		"--retries", "2", "--pause", "10ms", "--hedge", "10ms", "--pass-deadline", "--budget", "10%", "--waits", "H", "--slots", "16")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, out)
	}
	doc := document(t, out)
	own := doc["arms"].(map[string]any)["own"].(map[string]any)
	if len(own["rounds"].([]any)) != 2 || own["median"].(map[string]any)["calls_per_request"].(float64) <= 1 {
		t.Errorf("arms.own: %v", own)
	}
	if doc["tipping"].(map[string]any)["own"].(map[string]any)["rounds"].(float64) != 2 {
		t.Errorf("tipping: %v", doc["tipping"])
	}
}

func TestLabFallbackFlagsThatAreWrong(t *testing.T) {
	for args, want := range map[string]string{
		"--arms H9-none":               "the arms are F3-none",
		"--waits Q":                    "write F",
		"--rate 0":                     "a rate of 0",
		"--retries 2":                  "add --timeout",
		"--pass-deadline":              "add --timeout",
		"--timeout 25ms --budget lots": "write 10%",
		"--rounds 0":                   "0 rounds",
		"--seconds 0":                  "0 seconds",
		"--seconds soon":               "no length of time",
		"--rate 450 --arms H3-none":    "leave it out",
		"--quick":                      "for --live",
		"--live --tipping":             "leave out --live",
		"--live --arms H4-all":         "not live",
		"--live --arms L4-apart-fb25":  "not live",
		"--live --quick --arms H3-t25": "the arms are wait",
	} {
		_, err, code := spillway(t, t.TempDir(), append([]string{"lab", "fallback"}, strings.Fields(args)...)...)
		if code != exitUsage || !strings.Contains(err, want) {
			t.Errorf("lab fallback %s: exit %d, %s", args, code, err)
		}
	}
}

// A live run says whose times its figures are, and lays them beside those of virtual time.
func TestLabFallbackLive(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it starts processes and takes seconds")
	}
	out, err, code := spillway(t, t.TempDir(), "lab", "fallback", "--live", "--arms", "H3-fb25", "--seconds", "2", "--json")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, err)
	}
	doc := document(t, out)
	if doc["mode"] != "live" || doc["capacity_per_s"].(float64) <= 0 {
		t.Errorf("mode %v, capacity %v", doc["mode"], doc["capacity_per_s"])
	}
	rounds := doc["arms"].(map[string]any)["H3-fb25"].(map[string]any)["rounds"].([]any)
	facts := doc["live"].(map[string]any)["machine"].(map[string]any)["H3-fb25"].([]any)
	if len(rounds) != 1 || len(facts) != 1 || facts[0].(map[string]any)["answers_checked"] != rounds[0].(map[string]any)["requests"] {
		t.Errorf("rounds %v, facts %v", rounds, facts)
	}
	beside := doc["live"].(map[string]any)["beside_virtual"].([]any)
	if len(beside) != 1 || beside[0].(map[string]any)["p99_virtual_ms"].(float64) <= 0 {
		t.Errorf("beside: %v", beside)
	}
	if !strings.HasPrefix(doc["findings"].([]any)[0].(string), "These times are this machine's") {
		t.Errorf("findings: %v", doc["findings"])
	}
}

// What a live run keeps is verified as any other's.
func TestLabFallbackLiveRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it starts processes and takes seconds")
	}
	folder := t.TempDir()
	if _, err, code := spillway(t, folder, "lab", "fallback", "--live", "--arms", "H3-hedge", "--seconds", "2", "--raw", "records"); code != exitDone {
		t.Fatalf("exit %d: %s", code, err)
	}
	if out, err, code := spillway(t, folder, "lab", "verify", "records"); code != exitDone {
		t.Errorf("exit %d: %s%s", code, out, err)
	}
}
