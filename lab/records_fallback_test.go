package lab_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/lab/fallback"
	"github.com/spillway-dev/spillway/lab/verify"
	"github.com/spillway-dev/spillway/report"
)

func keepFallback(t *testing.T, seconds float64, tipping bool, arms ...string) string {
	t.Helper()
	o := fallback.Defaults()
	o.Rounds, o.Seconds, o.Tipping, o.Arms = 3, seconds, tipping, arms
	dir := filepath.Join(t.TempDir(), "fallback")
	if _, err := fallback.Run(o, dir, report.Meta{Version: "test"}, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Every kind of arm: waits, limits, deadlines, retries, hedges, guards, copies,
// busy times.
func TestWhatLabFallbackSaysIsWhatTheRecordsSay(t *testing.T) {
	for _, dir := range []string{
		keepFallback(t, 2, false, "H3-none", "H3-t10", "H3-dl", "H3-dldown", "H3-fb25", "H3-r2bj", "H3-hedge", "H4-fb25", "H4-r2", "H4-r2-breaker", "H4-r2-protected", "H4-all",
			"L4-busy-r2", "L4-customer-r2", "L4-apart-all", "L4-together-hedge-b10"),
		keepFallback(t, 1, true, "H4-fb25", "H4-r2"),
	} {
		o, err := verify.Dir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range o.Mismatches {
			t.Error(m)
		}
		if o.Figures < 200 || o.Verdicts < 5 || o.Rows < 10_000 {
			t.Errorf("only %d figures, %d verdicts and %d rows were looked at", o.Figures, o.Verdicts, o.Rows)
		}
	}
}

// A microsecond more or less in one row is seen, also by who covers it by naming
// the hash of what was changed.
func TestAMicrosecondInTheRecordsOfLabFallbackIsSeen(t *testing.T) {
	more := func(cells []string, column int) {
		n, err := strconv.ParseInt(cells[column], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		cells[column] = strconv.FormatInt(n+1000, 10)
	}
	for what, c := range map[string]struct {
		change func(cells []string) bool
		seen   string
	}{
		"a drawn wait": {func(cells []string) bool {
			if cells[0] == "l" {
				more(cells, 7)
			}
			return cells[0] == "l"
		}, "drew"},
		"a slot's end": {func(cells []string) bool {
			if cells[0] == "l" {
				more(cells, 12)
			}
			return cells[0] == "l"
		}, "store_total_ms"},
		"an answer": {func(cells []string) bool {
			if cells[0] == "q" {
				more(cells, 12)
			}
			return cells[0] == "q"
		}, "latency_total_ms"},
		"a stand-in that is called an answer": {func(cells []string) bool {
			found := cells[0] == "q" && cells[4] == "stand_in"
			if found {
				cells[4] = "served"
			}
			return found
		}, "stand_in_share"},
	} {
		dir := keepFallback(t, 4, false, "H4-fb25")
		edit(t, dir, "H4-fb25", true, c.change)
		found := mismatches(t, dir)
		seen := false
		for _, m := range found {
			seen = seen || strings.Contains(m.Where, c.seen)
		}
		if !seen {
			t.Errorf("%s: %v; want a mismatch of %s", what, found, c.seen)
		}
	}
}

// Conclusions drawn from several arms are verified too.
func TestConclusionsOfLabFallbackAreVerified(t *testing.T) {
	dir := keepFallback(t, 4, false, "H4-fb25", "H4-r2", "H4-r2-b10")
	if found := mismatches(t, dir); len(found) > 0 {
		t.Fatal(found)
	}
	results(t, dir, func(r map[string]any) {
		r["comparisons"].([]any)[0].(map[string]any)["verdict"] = "clearly better"
		r["ranking"].([]any)[0].(map[string]any)["tipped"] = 7
		r["tipping"].(map[string]any)["H4-r2"].(map[string]any)["high"] = 0.01
		r["timeline"].(map[string]any)["H4-r2"].([]any)[3].(map[string]any)["waiting"] = 12345
		path := r["frozen"].(map[string]any)["arms"].(map[string]any)["H4-r2"].([]any)
		path[len(path)-1].(map[string]any)["at_ms"] = 0.5
		r["arms"].(map[string]any)["H4-r2"].(map[string]any)["rounds"].([]any)[0].(map[string]any)["tipped"] = "no"
	})
	if _, err := verify.Dir(dir); err == nil {
		t.Error("a round that tipped 'no' is read")
	}
	results(t, dir, func(r map[string]any) {
		round := r["arms"].(map[string]any)["H4-r2"].(map[string]any)["rounds"].([]any)[0].(map[string]any)
		round["tipped"] = true
	})
	found := mismatches(t, dir)
	for _, want := range []string{"comparisons.0", "ranking.0", "tipping.H4-r2.high", "timeline.H4-r2.3.waiting", "frozen.H4-r2", "rounds.0.tipped"} {
		seen := false
		for _, m := range found {
			seen = seen || strings.Contains(m.Where, want)
		}
		if !seen {
			t.Errorf("%s was changed and not seen: %v", want, found)
		}
	}
}
