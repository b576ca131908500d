package lab_test

import (
	"bytes"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"

	"github.com/spillway-dev/spillway/lab/fair"
	"github.com/spillway-dev/spillway/lab/pool"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
)

// Every page asks, names its arms, predicts, finds, draws, says what was not
// tested and what was added, and how to have it again; and it fetches nothing.
func TestPages(t *testing.T) {
	meta := report.Meta{Version: "v1.2.3", Command: "spillway lab x --seed 7"}
	plan := fair.WholeTable(7, false)
	plan.Meta = meta
	table, err := fair.Run(plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := pool.Defaults()
	o.Seconds, o.Seed = 1, 7
	arms, err := pool.Run(o, "", meta, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := pool.Defaults()
	one.Seconds, one.Arms = 1, []string{"nested-27"}
	alone, err := pool.Run(one, "", meta, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		page *html.Page
		says []string
	}{
		"fair": {table.Page(), []string{"Every arm", "Completed, by tenant", "Queue", "Shares by weight", "wrr-2-copies", "12 / 0 / 0"}},
		"pool": {arms.Page(), []string{"Every arm", "What plan says beforehand", "bound-derived", "Queue wait by bound", "Stages of full-block", "Reasons", "jobs: a 202 that is on disk"}},
		"one":  {alone.Page(), []string{"Every arm", "nested-27", "27.0"}},
	} {
		var b bytes.Buffer
		if err := c.page.Write(&b); err != nil {
			t.Fatal(err)
		}
		text := words(t, b.String())
		for _, want := range append(c.says, "Question", "Arms", "Predictions", "Written before the first round", "Not yet", "What was not tested",
			"Added after the results were seen", "virtual", "v1.2.3", meta.Command) {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page does not say %q", name, want)
			}
		}
	}
}

// words is the page's text; a page that would fetch something fails.
func words(t *testing.T, page string) string {
	t.Helper()
	root, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for n := range root.Descendants() {
		if n.Type == nethtml.TextNode {
			text.WriteString(n.Data)
		}
		for _, a := range n.Attr {
			if (a.Key == "src" || a.Key == "href") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "data:") {
				t.Errorf("the page fetches %s", a.Val)
			}
		}
	}
	return text.String()
}
