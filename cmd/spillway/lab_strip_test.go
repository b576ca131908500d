package main

import (
	"strings"
	"testing"
)

func TestLabStripFlagsThatAreWrong(t *testing.T) {
	for args, want := range map[string]string{
		"--quick":                        "for --live",
		"--live --slots 5000":            "5000 slots",
		"--live --quick --policies best": "one of queue",
		"--live --load fast":             "--load",
	} {
		_, err, code := spillway(t, t.TempDir(), append([]string{"lab", "strip"}, strings.Fields(args)...)...)
		if code != exitUsage || !strings.Contains(err, want) {
			t.Errorf("lab strip %s: exit %d, %s", args, code, err)
		}
	}
	if _, err, code := spillway(t, t.TempDir(), "lab", "strip", partCommand, "nobody"); code != exitFailed || !strings.Contains(err, "scorer, gateway or tester") {
		t.Errorf("a part that there is not: exit %d, %s", code, err)
	}
}
