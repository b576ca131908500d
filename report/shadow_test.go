package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
)

// A class in shadow has what would have been beside what was; where nothing was
// in shadow there is {}, never nothing.
func TestShadowBesideWhatHappened(t *testing.T) {
	c := report.NewCollector(report.Options{})
	for _, class := range []string{"checkout", "search"} {
		tally := c.Tally(class, "")
		for range 3 {
			tally.Offered(0)
			tally.Started(0, 0)
			tally.Done(report.Outcome{Rung: report.Primary, Reason: reason.Served, Started: true})
		}
	}
	c.Class("checkout").Would(reason.Served)
	shard := report.NewCollector(report.Options{})
	shard.Class("checkout").Shadow(report.Shadow{Offered: 2, Reasons: report.Counts{"queue_full": 1}, Waiting: 1})
	c.Merge(shard)
	r := c.Report(report.About{Seconds: 1})
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	const told = `"shadow":{"offered":3,"reasons":{"queue_full":1,"served":1},"waiting":1,"running":0}`
	if n := strings.Count(string(document), told); n != 2 { // the class and the total
		t.Errorf("%d times %s in\n%s", n, told, document)
	}
	if n := strings.Count(string(document), `"shadow":{}`); n != 2 { // search and the tenant
		t.Errorf("%d empty shadows in\n%s", n, document)
	}
	again, err := report.Parse(document)
	if err != nil || again.Classes["checkout"].Shadow.Reasons["queue_full"] != 1 || again.Classes["search"].Shadow.Seen() {
		t.Errorf("read again it is %+v (%v)", again, err)
	}
	want := []report.ShadowRow{
		{"checkout", "queue_full", 0, 1}, {"checkout", "served", 3, 1}, {"checkout", "(waiting)", 0, 1}, {"checkout", "offered", 3, 3},
	}
	rows := r.ShadowRows()
	if len(rows) != len(want) {
		t.Fatalf("rows are %v, want %v", rows, want)
	}
	for i := range rows {
		if rows[i] != want[i] {
			t.Errorf("row %d is %v, want %v", i, rows[i], want[i])
		}
	}
	r.Classes["checkout"].Shadow.Waiting = 0
	if err := r.Check(); err == nil || !strings.Contains(err.Error(), "shadow: offered is 3") {
		t.Errorf("a shadow whose sum does not close: %v", err)
	}
}
