package html_test

import (
	"io"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
)

// A lab's page: question, prediction, picture, table, what was not tested.
func ExamplePage() {
	page := &html.Page{
		Title:    "spillway lab pool",
		Findings: []string{"The derived bound of 80 keeps p99 at 287 ms; one of 2,000 lets it grow to 5.1 s."},
		Sections: []html.Section{
			html.Prose{Heading: "Question", Paragraphs: []string{"How large may a waiting room be?"}},
			html.Prose{Heading: "Predictions", Items: []string{"p99 stays within 300 ms with the derived bound only"}},
			html.Bars{Heading: "p99 by arm", X: html.Axis{Name: "p99", Unit: "ms"}, Bars: []html.Bar{
				{Name: "derived bound", Value: 287, Low: report.None(), High: report.None()},
				{Name: "bound of 2,000", Value: 5100, Low: report.None(), High: report.None(), Class: "ours"},
			}},
			html.Prose{Heading: "Not tested", Items: []string{"work that holds memory after it ended"}},
		},
		Repeat: html.Repeat{Mode: "virtual", Seed: 1, Meta: report.Meta{Command: "spillway lab pool --seed 1"}},
	}
	_ = page.Write(io.Discard) // or page.WriteFile("out.html")
	// Output:
}
