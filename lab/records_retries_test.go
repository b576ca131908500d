package lab_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/spillway-dev/spillway/lab/retries"
	"github.com/spillway-dev/spillway/lab/verify"
)

func keepRetries(t *testing.T) string {
	t.Helper()
	p, err := retries.Table(retries.Options{Rounds: 1, Loads: []float64{40}, OutFor: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p.Raw = filepath.Join(t.TempDir(), "retries")
	if _, err := retries.Run(p, nil); err != nil {
		t.Fatal(err)
	}
	return p.Raw
}

func TestWhatLabRetriesSaysIsWhatTheRecordsSay(t *testing.T) {
	dir := keepRetries(t)
	o, err := verify.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range o.Mismatches {
		t.Error(m)
	}
	if o.Figures < 100 || o.Verdicts < 5 || o.Rows < 10_000 {
		t.Errorf("only %d figures, %d verdicts and %d rows were looked at", o.Figures, o.Verdicts, o.Rows)
	}

	// An answer that was none, whatever the hash says, and a microsecond.
	edit(t, dir, "default-40", true, func(cells []string) bool {
		was := cells[14] == "served"
		cells[14] = "timeout"
		return was
	})
	if len(mismatches(t, dir)) == 0 {
		t.Error("an answer that was none is not seen")
	}
	edit(t, dir, "spillway-40", false, func(cells []string) bool {
		ended, _ := strconv.ParseInt(cells[12], 10, 64)
		cells[12] = strconv.FormatInt(ended+1000, 10)
		return true
	})
	if n := len(mismatches(t, dir)); n < 2 {
		t.Errorf("%d mismatches: a microsecond is not seen", n)
	}
}
