package text

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spillway-dev/spillway/report"
)

// A Comparison lays runs side by side, one a column.
type Comparison struct {
	Title string
	Arms  []report.Arm
	// Differences adds a column of how far the last arm but one (measured) is
	// from the last (predicted), and a sentence on whether the prediction held
	// by the tolerances of report.Compare.
	Differences bool
}

// WriteComparison draws the figures of every class of every arm, with who was
// refused and why.
func WriteComparison(w io.Writer, c Comparison, o Options) error {
	p := &page{w: w, o: o}
	n := len(c.Arms)
	differences := c.Differences && n >= 2
	t := Table{Title: c.Title, Head: []string{"class", "figure"}, Left: []int{1}}
	for _, arm := range c.Arms {
		t.Head = append(t.Head, arm.Name)
	}
	if differences {
		t.Head = append(t.Head, "difference")
		p.paragraphs([]string{verdict(report.Compare(c.Arms[n-2].Report, c.Arms[n-1].Report))}, o.bold)
	}
	for _, class := range classes(c.Arms) {
		for i, f := range figures(class, c.Arms) {
			name := ""
			if i == 0 {
				name = class
			}
			row := []string{name, f.name}
			values := make([]report.Number, n)
			for j, arm := range c.Arms {
				values[j] = report.None()
				if g := arm.Report.Classes[class]; g != nil {
					values[j] = f.of(g)
				}
				row = append(row, f.format(values[j]))
			}
			if differences {
				row = append(row, difference(values[n-2], values[n-1], f.share))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	p.table(t)
	return p.err
}

func classes(arms []report.Arm) []string {
	var names []string
	for _, arm := range arms {
		for _, name := range arm.Report.ClassNames() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

type figure struct {
	name   string
	of     func(*report.Group) report.Number
	format func(report.Number) string
	share  bool
}

// figures of a class: the four that matter, then the rungs and reasons that
// occur in any arm, in sorted order.
func figures(class string, arms []report.Arm) []figure {
	share := func(name string, count func(*report.Group) int64) figure {
		return figure{name, func(g *report.Group) report.Number { return report.Share(count(g), g.Offered) }, report.FormatPercent, true}
	}
	list := []figure{
		{"goodput", func(g *report.Group) report.Number { return g.GoodputPerS }, report.FormatRate, false},
		{"p50", func(g *report.Group) report.Number { return g.P50Ms }, report.FormatMs, false},
		{"p99", func(g *report.Group) report.Number { return g.P99Ms }, report.FormatMs, false},
		share("in full", (*report.Group).InFull),
	}
	rungs, reasons := report.Counts{}, report.Counts{}
	for _, arm := range arms {
		if g := arm.Report.Classes[class]; g != nil {
			for name := range g.Answered {
				rungs[name]++
			}
			for name := range g.Refused {
				reasons[name]++
			}
		}
	}
	for _, name := range rungs.Names() {
		if name != "primary" {
			list = append(list, share("rung "+name, func(g *report.Group) int64 { return g.Answered[name] }))
		}
	}
	for _, name := range reasons.Names() {
		list = append(list, share(name, func(g *report.Group) int64 { return g.Refused[name] }))
	}
	return list
}

func difference(measured, predicted report.Number, share bool) string {
	d := measured - predicted
	unit := " points"
	if !share {
		d, unit = d/predicted, " %"
		if measured == predicted {
			d = 0
		}
	}
	if !d.Known() {
		return "-"
	}
	return fmt.Sprintf("%+.1f%s", float64(d*100), unit)
}

func verdict(differences []report.Difference) string {
	words := map[string]string{"goodput_per_s": "goodput", "refused_share": "refused share", "p99_ms": "p99"}
	var off []string
	for _, d := range differences {
		if !d.Within {
			off = append(off, d.Class+" "+words[d.Figure])
		}
	}
	bounds := fmt.Sprintf("(goodput within %.0f %%, refused share within %.0f points, p99 within %.0f %%)",
		report.GoodputTolerance*100, report.ShareTolerance*100, report.P99Tolerance*100)
	if len(off) == 0 {
		return "The prediction held for every class " + bounds + "."
	}
	return "The prediction did not hold " + bounds + " for: " + strings.Join(off, ", ") + "."
}
