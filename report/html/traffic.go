package html

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spillway-dev/spillway/report"
)

// classRivers is up to how many classes get a river of their own.
const classRivers = 6

// Traffic makes the page of a traffic report. title names the run: "spillway
// sim of spillway.yaml".
func Traffic(title string, r *report.Report) *Page {
	p := &Page{Title: title, Findings: r.Findings(), Warnings: r.Warnings,
		Repeat: Repeat{Mode: r.Mode, Seed: r.Seed, Meta: r.Meta}}
	p.Sections = append(p.Sections, TrafficSections(r)...)
	return p
}

// TrafficSections are the pictures and tables of a traffic report, for a page
// that holds more than one.
func TrafficSections(r *report.Report) []Section {
	classes := r.ClassNames()
	heading := "What was offered, and what became of it"
	sections := []Section{River{Heading: heading, River: r.Series.Total().River(r.Rungs),
		Caption: "Stacked requests per second at the time they were answered. Waiting is what the queues and the running work grew by."}}
	if len(classes) > 1 && len(classes) <= classRivers {
		for _, name := range classes {
			if s := r.Series[name]; s != nil {
				sections = append(sections, River{Heading: name, River: s.River(r.Rungs), Half: true})
			}
		}
	}
	sections = append(sections, waits(r, classes), depths(r, classes), classTable(r), reasonTable(r))
	if r.Shadow.Seen() {
		sections = append(sections, shadowTable(r))
	}
	if len(r.Tenants) > 1 {
		sections = append(sections, tenantTable(r))
	}
	return sections
}

func waits(r *report.Report, classes []string) Lines {
	l := overTime("Queue wait", "p99 of the requests started in each moment, known to 3 %; a gap where none was.", "queue wait", "ms", r)
	for _, name := range classes {
		if s := r.Series[name]; s != nil {
			l.Lines = append(l.Lines, Line{Name: name, Y: s.QueueWaitP99Ms})
		}
	}
	highestFirst(&l)
	return l
}

func depths(r *report.Report, classes []string) Lines {
	l := overTime("Queue depth", "The most requests found waiting in each moment.", "waiting", "requests", r)
	for _, name := range classes {
		s := r.Series[name]
		if s == nil {
			continue
		}
		y := make([]report.Number, len(s.QueueDepth))
		for i, n := range s.QueueDepth {
			y[i] = report.Number(n)
		}
		l.Lines = append(l.Lines, Line{Name: name, Y: y})
	}
	highestFirst(&l)
	return l
}

// highestFirst sorts the lines by their maxima where not all can be drawn, so
// that the ones left to the table are those that matter least.
func highestFirst(l *Lines) {
	if len(l.Lines) <= maxLines {
		return
	}
	highest := func(line Line) report.Number {
		var m report.Number
		for _, v := range line.Y {
			if v.Known() {
				m = max(m, v)
			}
		}
		return m
	}
	slices.SortStableFunc(l.Lines, func(a, b Line) int { return cmp.Compare(highest(b), highest(a)) })
}

// overTime is a chart whose x are the buckets of the longest course.
func overTime(heading, caption, yName, yUnit string, r *report.Report) Lines {
	l := Lines{Heading: heading, Caption: caption, Half: true,
		X: Axis{Name: "time", Unit: "s"}, Y: Axis{Name: yName, Unit: yUnit}}
	total := r.Series.Total()
	for _, t := range total.TS {
		l.At = append(l.At, float64(t))
		l.X.To = float64(t + total.BucketS)
	}
	return l
}

var groupHead = []string{"offered /s", "goodput /s", "in full", "cheaper", "refused", "failed", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms",
	"max ms", "refused p50 ms", "wait p50 ms", "wait p99 ms", "utilisation", "calls a request"}

func groupRow(name string, g *report.Group, r *report.Report) []string {
	percent := func(n int64) string { return report.FormatPercent(report.Share(n, g.Offered)) }
	return []string{name, report.Format(report.PerSecond(g.Offered, float64(r.Seconds))), report.Format(g.GoodputPerS),
		percent(g.InFull()), percent(g.Cheaper()), percent(g.RefusedIn(report.BandCaller) + g.RefusedIn(report.BandOurs)),
		percent(g.RefusedIn(report.BandFailed) + g.RefusedIn(report.BandUnknown)),
		report.Format(g.P50Ms), report.Format(g.P90Ms), report.Format(g.P99Ms), report.Format(g.P999Ms), report.Format(g.MaxMs),
		report.Format(g.RefusedP50Ms), report.Format(g.QueueWaitP50Ms), report.Format(g.QueueWaitP99Ms),
		report.FormatPercent(g.Utilisation), report.Format(g.CallsPerRequest)}
}

func classTable(r *report.Report) Table {
	t := Table{Heading: "Classes", Head: append([]string{"class"}, groupHead...),
		Caption: "Latency of full answers, from the scheduled arrival. A dash: nobody to measure."}
	for _, name := range r.ClassNames() {
		t.Rows = append(t.Rows, groupRow(name, r.Classes[name], r))
	}
	t.Rows = append(t.Rows, groupRow("all", &r.Group, r))
	t.Total = true
	if r.Shadow.Seen() {
		t.Head = append(t.Head, "would be refused or fail")
		for i, name := range r.ClassNames() {
			t.Rows[i] = append(t.Rows[i], report.FormatPercent(r.Classes[name].Shadow.WouldRefuse()))
		}
		t.Rows[len(t.Rows)-1] = append(t.Rows[len(t.Rows)-1], report.FormatPercent(r.Shadow.WouldRefuse()))
	}
	return t
}

func tenantTable(r *report.Report) Table {
	t := Table{Heading: "Tenants", Head: append([]string{"tenant"}, groupHead...), Caption: "The busiest first."}
	for _, name := range r.Tenants.ByTraffic() {
		t.Rows = append(t.Rows, groupRow(name, r.Tenants[name], r))
	}
	return t
}

func reasonTable(r *report.Report) Table {
	classes := r.ClassNames()
	t := Table{Heading: "Reasons", Left: []int{1}, Total: true,
		Head:    []string{"reason", "shown as", "requests", "share", "answered by a rung", "no answer"},
		Caption: "Every request has one reason; the sum over all reasons, waiting and running is what was offered."}
	if len(classes) > 1 && len(classes) <= classRivers {
		t.Head = append(t.Head, classes...)
	} else {
		classes = nil
	}
	names := r.Reasons.Names()
	slices.SortStableFunc(names, func(a, b string) int { return int(min(1, max(-1, r.Reasons[b]-r.Reasons[a]))) })
	row := func(name, shown string, n int64, rung, none string, of func(*report.Group) int64) {
		cells := []string{name, shown, report.FormatCount(n), report.FormatPercent(report.Share(n, r.Offered)), rung, none}
		for _, class := range classes {
			cells = append(cells, report.FormatCount(of(r.Classes[class])))
		}
		t.Rows = append(t.Rows, cells)
	}
	for _, name := range names {
		n, refused := r.Reasons[name], r.Refused[name]
		row(name, shownAs(name, n, refused), n, report.FormatCount(n-refused), report.FormatCount(refused),
			func(g *report.Group) int64 { return g.Reasons[name] })
	}
	row("(waiting)", report.BandWaiting.String(), r.Waiting, "", "", func(g *report.Group) int64 { return g.Waiting })
	row("(running)", report.BandWaiting.String(), r.Running, "", "", func(g *report.Group) int64 { return g.Running })
	row("offered", "", r.Offered, "", "", func(g *report.Group) int64 { return g.Offered })
	return t
}

// shownAs names the bands in which a reason's requests are drawn.
func shownAs(reason string, n, refused int64) string {
	var words []string
	if n > refused && reason != "served" {
		words = append(words, fmt.Sprint(report.BandRung))
	}
	if refused > 0 || reason == "served" {
		words = append(words, report.BandOf(reason).String())
	}
	return strings.Join(words, "; ")
}
