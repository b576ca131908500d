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
	} {
		_, err, code := spillway(t, t.TempDir(), append([]string{"lab", "fallback"}, strings.Fields(args)...)...)
		if code != exitUsage || !strings.Contains(err, want) {
			t.Errorf("lab fallback %s: exit %d, %s", args, code, err)
		}
	}
}
