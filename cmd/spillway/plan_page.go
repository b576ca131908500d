package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
)

// planPage is a plan for a browser: the phase of each upstream, then all figures.
func planPage(p plan.Plan, m report.Meta) *html.Page {
	page := &html.Page{
		Title: "What the configuration promises", Findings: []string{p.Finding}, Warnings: p.Warnings,
		Repeat: html.Repeat{Mode: "arithmetic", Meta: m},
	}
	for _, name := range slices.Sorted(maps.Keys(p.Upstreams)) {
		if chart, ok := phaseChart(name, p.Upstreams[name]); ok {
			page.Sections = append(page.Sections, chart)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Upstreams)) {
		u := p.Upstreams[name]
		page.Sections = append(page.Sections, figureTable("upstream "+name+" ("+u.State+")", u.Figures))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Classes)) {
		page.Sections = append(page.Sections, figureTable("class "+name, p.Classes[name].Figures))
	}
	page.Sections = append(page.Sections, html.Prose{Heading: "What it does not say", Paragraphs: []string{
		"Arithmetic on means says which side of a border a configuration is on. It says nothing of tails, and little about what happens close to a border: the simulator does (spillway sim)."}})
	return page
}

// usualBudget is the budget that the phase is compared with: the default.
const usualBudget = 0.1

// phaseChart draws the retries that a queue brings with it against those at which it
// stands still; not where nothing is expected or known.
func phaseChart(name string, u plan.UpstreamPlan) (html.Lines, bool) {
	rate, sustainable, attempts := float64(u.ExpectedPerS), float64(u.SustainablePerS), float64(u.SustainablePerS/u.StableBelowPerS)
	phase := plan.PhaseOf(rate, attempts, sustainable, time.Duration(float64(u.LimitS)*1e9))
	if len(phase.Queued) == 0 || !u.ExpectedPerS.Known() || !u.LimitS.Known() {
		return html.Lines{}, false
	}
	says := "Whatever its length, the queue shrinks: it returns by itself."
	switch {
	case phase.Tips == 0:
		says = "More comes than can be done: the queue grows without end."
	case !math.IsInf(phase.Tips, 1):
		says = fmt.Sprintf("From %.0f waiting on the retries are more than can be done beside what comes, and the queue grows by itself.", phase.Tips)
	}
	chart := html.Lines{
		Heading: "Where the queue of " + name + " goes, by its length",
		Caption: says + " Where the retries lie above the dashed line it grows, below it shrinks. For a queue in the order of arrival that runs dead work too.",
		X:       html.Axis{Name: "waiting"}, Y: html.Axis{Name: "retries", Unit: "/s"},
		At: phase.Queued,
		Lines: []html.Line{
			{Name: "as configured", Y: numbers(phase.RetriesPerS)},
			{Name: "the queue stands still", Y: constant(max(0, phase.StandstillPerS), len(phase.Queued)), Bound: true},
		},
	}
	if attempts > 1+usualBudget+1e-9 {
		held := plan.PhaseOf(rate, 1+usualBudget, sustainable, time.Duration(float64(u.LimitS)*1e9))
		chart.Lines = append(chart.Lines, html.Line{Name: "with a budget of 10 %", Y: numbers(held.RetriesPerS)})
	}
	return chart, true
}

func numbers(y []float64) []report.Number {
	all := make([]report.Number, len(y))
	for i := range y {
		all[i] = report.Number(y[i])
	}
	return all
}

func constant(y float64, n int) []report.Number {
	all := make([]report.Number, n)
	for i := range all {
		all[i] = report.Number(y)
	}
	return all
}

func figureTable(heading string, figures []plan.Figure) html.Table {
	t := html.Table{Heading: heading, Head: []string{"figure", "value", "unit", "formula", "if"}, Left: []int{0, 2, 3, 4}}
	for _, f := range figures {
		t.Rows = append(t.Rows, []string{f.Name, report.Format(report.Number(f.Value)), f.Unit, f.Formula, f.Assumption})
	}
	return t
}
