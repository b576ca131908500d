package text_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
	"github.com/spillway-dev/spillway/report/text"
)

// Where a class was in shadow, a terminal and a page show what would have been
// beside what was; elsewhere there is no word of it.
func TestShadowIsShownBesideWhatHappened(t *testing.T) {
	c := report.NewCollector(report.Options{})
	tally := c.Tally("checkout", "")
	for range 4 {
		tally.Offered(0)
		tally.Started(0, 0)
		tally.Done(report.Outcome{Rung: report.Primary, Reason: reason.Served, Started: true})
	}
	shown := func() (terminal, page string) {
		r := c.Report(report.About{Seconds: 1})
		var out, doc bytes.Buffer
		if err := text.Write(&out, r, text.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := html.Traffic("sim", r).Write(&doc); err != nil {
			t.Fatal(err)
		}
		return out.String(), doc.String()
	}
	if terminal, page := shown(); strings.Contains(terminal, "shadow") || strings.Contains(page, "In shadow") {
		t.Errorf("nothing is in shadow, and it is spoken of:\n%s", terminal)
	}
	for range 3 {
		c.Class("checkout").Would(reason.QueueFull)
	}
	c.Class("checkout").Would(reason.Served)
	terminal, page := shown()
	const want = `in shadow  reason      happened  would be  meaning
checkout   queue_full         0         3  refused: ours
           served             4         1  served in full
           offered            4         4
`
	if !strings.Contains(terminal, want) {
		t.Errorf("the terminal shows\n%s", terminal)
	}
	for _, part := range []string{"In shadow", "would be refused or fail", "75.0 %"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not show %q", part)
		}
	}
}
