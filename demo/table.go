package demo

import (
	"fmt"
	"io"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
	"github.com/spillway-dev/spillway/report/text"
)

// WriteText draws the one table that the demo ends with.
func (r *Result) WriteText(w io.Writer, o text.Options) error {
	if err := text.WriteFindings(w, r.findings(), o); err != nil {
		return err
	}
	if err := text.WriteComparison(w, text.Comparison{
		Arms:        []report.Arm{{Name: Without, Report: r.Without}, {Name: With, Report: r.With}, {Name: Predicted, Report: r.PredictedWith}},
		Differences: true,
	}, o); err != nil {
		return err
	}
	if len(r.With.Tenants) > 1 {
		fmt.Fprintln(w)
		if err := text.WriteTable(w, r.tenants(), o); err != nil {
			return err
		}
	}
	return text.WriteRepeat(w, r.With, o)
}

// findings says in words what the table shows.
func (r *Result) findings() []string {
	capacity := slots / serviceTime.Seconds()
	offered := float64(r.With.Offered) / float64(r.With.Seconds)
	return []string{fmt.Sprintf(
		"A service that can do %s was offered %s. Alone it answered %s in time; with spillway in front %s, and whoever was refused knew after %s (median) instead of %s.",
		report.FormatRate(report.Number(capacity)), report.FormatRate(report.Number(offered)),
		report.FormatRate(r.Without.GoodputPerS), report.FormatRate(r.With.GoodputPerS),
		report.FormatMs(r.With.RefusedP50Ms), report.FormatMs(report.Ms(int64(deadline))),
	)}
}

// tenants shows how the checkout was shared.
func (r *Result) tenants() text.Table {
	t := text.Table{
		Title: "checkout, by tenant",
		Head:  []string{"tenant", "offered", "served without", "served with", "predicted"},
		Left:  []int{0},
	}
	for _, name := range r.With.Tenants.ByTraffic() {
		if name == "" {
			continue // analytics tells no tenants apart
		}
		served := func(of *report.Report) string {
			g := of.Tenants[name]
			if g == nil {
				return "-"
			}
			return report.FormatRate(g.GoodputPerS)
		}
		g := r.With.Tenants[name]
		t.Rows = append(t.Rows, []string{
			name, report.FormatRate(report.PerSecond(g.Offered, float64(r.With.Seconds))),
			served(r.Without), served(r.With), served(r.PredictedWith),
		})
	}
	return t
}

// Page is the demo as a page: both runs and what was predicted of them.
func (r *Result) Page() *html.Page {
	p := &html.Page{
		Title:    "spillway demo",
		Findings: append(r.findings(), r.With.Findings()...),
		Warnings: append(append(report.Strings{}, r.Without.Warnings...), r.With.Warnings...),
		Repeat:   html.Repeat{Mode: r.With.Mode, Seed: r.With.Seed, Meta: r.With.Meta},
	}
	river := func(heading, caption string, of *report.Report) {
		p.Sections = append(p.Sections, html.River{Heading: heading, Caption: caption, Half: true, River: of.Series.Total().River(of.Rungs)})
	}
	river("Without spillway, live", "The line only grows; soon every answer comes after its caller has given up.", r.Without)
	river("Without spillway, predicted", "", r.PredictedWithout)
	river("With spillway, live", "What does not fit is refused before it waits.", r.With)
	river("With spillway, predicted", "", r.PredictedWith)
	p.Sections = append(p.Sections, html.TrafficSections(r.With)...)
	p.Sections = append(p.Sections, r.differences())
	return p
}

func (r *Result) differences() html.Table {
	t := html.Table{
		Heading: "Live against predicted",
		Head:    []string{"class", "figure", "live", "predicted", "difference", "tolerance", "within"},
	}
	for _, d := range r.Differences() {
		within := "no"
		if d.Within {
			within = "yes"
		}
		t.Rows = append(t.Rows, []string{
			d.Class, d.Figure, report.Format(d.Measured), report.Format(d.Predicted),
			report.FormatPercent(d.Difference), report.FormatPercent(d.Tolerance), within,
		})
	}
	return t
}
