package lab_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/spillway-dev/spillway/lab/strip"
	"github.com/spillway-dev/spillway/lab/verify"
	"github.com/spillway-dev/spillway/report"
)

func TestWhatLabStripSaysIsWhatTheRecordsSay(t *testing.T) {
	o := strip.Defaults()
	o.Policies, o.Loads, o.Seconds, o.Only = []string{"random", "gap"}, []float64{1.2}, 1, true
	o.Slots = 16
	dir := filepath.Join(t.TempDir(), "strip")
	if _, err := strip.Run(o, dir, report.Meta{}, nil); err != nil {
		t.Fatal(err)
	}
	out, err := verify.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Mismatches {
		t.Error(m)
	}
	if out.Figures < 50 || out.Verdicts < 5 || out.Rows < 20_000 {
		t.Errorf("only %d figures, %d verdicts and %d rows were looked at", out.Figures, out.Verdicts, out.Rows)
	}

	// An answer from another rung, whatever the hash says, and a microsecond.
	judged := func(cells []string) bool { return len(cells[9]) == len("12000000000") && cells[9] >= "12000000000" }
	edit(t, dir, "gap-1-2x-s1", true, func(cells []string) bool {
		was := judged(cells) && cells[4] == "personalised"
		if was {
			cells[4] = "frequency_list"
		}
		return was
	})
	if len(mismatches(t, dir)) == 0 {
		t.Error("an answer from another rung is not seen")
	}
	edit(t, dir, "random-1-2x-s1", false, func(cells []string) bool {
		ended, _ := strconv.ParseInt(cells[12], 10, 64)
		cells[12] = strconv.FormatInt(ended+1000, 10)
		return true
	})
	if n := len(mismatches(t, dir)); n < 2 {
		t.Errorf("%d mismatches: a microsecond is not seen", n)
	}
}
