package retries

import (
	"fmt"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
)

// findings says in words what was seen.
func (d *Document) findings() report.Strings {
	var f report.Strings
	say := func(format string, a ...any) { f = append(f, fmt.Sprintf(format, a...)) }
	for _, policy := range Policies() {
		if best := d.border(policy.Policy); best > 0 {
			say("%s: every load up to %s/s comes back by itself.", policy.Policy, report.Format(report.Number(best)))
		} else {
			say("%s: no load that was tried comes back.", policy.Policy)
		}
	}
	if s := d.slowest("default"); s.Known() {
		say("With the client library, Spillway in front and a deadline that travels the slowest load is served again %s s after the outage's end (median of the rounds).", report.Format(s))
	}
	for _, s := range d.settings {
		if s.Policy == "default" && s.PerS > promised*capacityS {
			say("%s", d.above(s))
		}
	}
	return append(f, d.Score())
}

// above says what it takes at a load for which nothing is promised.
func (d *Document) above(s Setting) string {
	load := fmt.Sprintf("At %s/s, %.0f %% of capacity: default ", report.Format(report.Number(s.PerS)), 100*s.PerS/capacityS)
	if back := d.Arms[s.Name].Median.RecoveredS; back.Known() {
		load += fmt.Sprintf("is back after %s s", report.Format(back))
	} else {
		load += "is not back by the end"
	}
	best, policy := report.None(), ""
	for _, o := range d.settings {
		if back := d.Arms[o.Name].Median.RecoveredS; o.PerS == s.PerS && back.Known() && (policy == "" || back < best) {
			best, policy = back, o.Policy
		}
	}
	if policy == "" {
		return load + ", and neither is any other: less load is what it takes."
	}
	return load + fmt.Sprintf("; the soonest is %s, after %s s.", policy, report.Format(best))
}

// border is the highest load of a policy up to which all came back in the median.
func (d *Document) border(policy string) float64 {
	best := 0.0
	for _, s := range d.settings {
		if s.Policy != policy {
			continue
		}
		if !d.Arms[s.Name].Median.RecoveredS.Known() {
			break
		}
		best = s.PerS
	}
	return best
}

func (d *Document) slowest(policy string) report.Number {
	slowest := report.None()
	for _, s := range d.settings {
		if r := d.Arms[s.Name].Median.RecoveredS; s.Policy == policy && (!slowest.Known() || r > slowest) {
			slowest = r
		}
	}
	return slowest
}

// Head is the head of the table of policies: one column a load.
func (d *Document) Head() []string {
	head := []string{"policy"}
	for _, s := range d.settings {
		if s.Policy != d.settings[0].Policy {
			break
		}
		head = append(head, report.Format(report.Number(s.PerS))+"/s")
	}
	return head
}

// Legend says what a cell holds.
const Legend = "each cell: answered a second in the last 50 s of those who asked then (attempts offered a second), and how many seconds after the outage's end " +
	"every second has 99 % of its callers answered; - is never. Medians of the rounds."

// Rows is the table of policies.
func (d *Document) Rows() [][]string {
	var rows [][]string
	for _, s := range d.settings {
		if len(rows) == 0 || rows[len(rows)-1][0] != s.Policy {
			rows = append(rows, []string{s.Policy})
		}
		m := d.Arms[s.Name].Median
		back := "-"
		if m.RecoveredS.Known() {
			back = fmt.Sprintf("%.0f s", float64(m.RecoveredS))
		}
		cell := fmt.Sprintf("%.0f (%.0f) %s", float64(m.AnsweredAfterPerS), float64(m.OfferedAfterPerS), back)
		rows[len(rows)-1] = append(rows[len(rows)-1], cell)
	}
	return rows
}

// Page is the document for a browser.
func (d *Document) Page() *html.Page {
	first := d.settings[0]
	arms := html.Prose{Heading: "Arms", Paragraphs: []string{fmt.Sprintf(
		"The server works on %d requests at once for 10 ms in the mean, exponentially distributed: %d/s. It stands still from second %d to %d. "+
			"A client waits %d s for each attempt. %d rounds, each with a seed of its own.",
		servers, capacityS, first.OutageS, first.OutageS+first.OutForS, first.TimeoutS, first.Rounds)}}
	for _, p := range Policies() {
		arms.Items = append(arms.Items, p.Policy+": "+p.Does)
	}
	return lab.Page(&d.Results, "Lab retries: an outage that clients keep alive", arms,
		html.Table{Heading: "Policy and load", Head: d.Head(), Rows: d.Rows(), Left: []int{1}, Caption: Legend}, d.course())
}

// course shows the highest load that the paper names, second by second.
func (d *Document) course() html.Section {
	const load = 280
	l := html.Lines{Heading: "Second by second", X: html.Axis{Name: "second in which a caller first asked"}, Y: html.Axis{Name: "share answered"},
		Caption: fmt.Sprintf("First round at %d/s, 93 %% of capacity.", load)}
	for _, s := range d.settings {
		if s.PerS != load {
			continue
		}
		if len(l.At) == 0 {
			for i := range s.ForS {
				l.At = append(l.At, float64(i))
			}
		}
		l.Lines = append(l.Lines, html.Line{Name: s.Policy, Y: d.Arms[s.Name].answered})
	}
	return l
}
