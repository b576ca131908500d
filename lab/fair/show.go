package fair

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
)

// findings says in words what was seen.
func (d *Document) findings() report.Strings {
	var f report.Strings
	say := func(format string, a ...any) { f = append(f, fmt.Sprintf(format, a...)) }
	if len(d.ArmOrder) == 1 {
		r := d.Result
		say("Under %s with %s, A, B and C complete %s of %s offered.", r.Policy, plural(r.Slots, "slot"), r.three(r.Completed), r.three(r.Offered))
	}
	fifo, wrr := d.Arms["fifo"], d.Arms["wrr"]
	if fifo != nil && wrr != nil {
		say("With one queue for all the noisy tenant takes everything: %s. With turns by weight the same slots give %s, and no burst changes that.",
			fifo.three(fifo.Completed), wrr.three(wrr.Completed))
	}
	if r := d.Arms["wrr-2-copies"]; r != nil && wrr != nil {
		say("Retries under fresh keys buy nothing: %s offered by A instead of %s, %s rejected, %s completed as before.",
			report.FormatCount(r.Offered["A"]), report.FormatCount(wrr.Offered["A"]), report.FormatCount(r.Rejected["A"]), r.three(r.Completed))
	}
	if count, cost := d.Arms["cost-wrr"], d.Arms["cost-drr"]; count != nil && cost != nil {
		say("Equal counts are not equal work: wrr gives each tenant as many jobs (%s) and so A %s of the cost against %s each; drr shares the cost (%s) in unequal counts (%s).",
			count.three(count.Completed), report.FormatCount(count.CompletedCost["A"]), report.FormatCount(count.CompletedCost["B"]),
			cost.three(cost.CompletedCost), cost.three(cost.Completed))
	}
	if r := d.Arms["tenants-100000"]; r != nil {
		say("With 100,000 tenants each completes at least %d and at most %d.", r.CompletedLeast, r.CompletedMost)
	}
	return append(f, d.Score())
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// three writes a count by tenant as 6 / 3 / 3, or the sum where there are many
// tenants.
func (r *Result) three(c report.Counts) string {
	var parts []string
	for _, name := range c.Names() {
		parts = append(parts, report.FormatCount(c[name]))
	}
	return strings.Join(parts, " / ")
}

// Head is the head of the table of arms.
var Head = []string{"arm", "completed", "rejected", "expired", "peak", "jain", "by cost", "lag", "predictions"}

// Legend says what the columns mean.
const Legend = "completed: of A / B / C, or of all tenants together where they are many; jain, by cost: Jain's index of completed / weight, 1 is fair; " +
	"lag: the most, in requests, that one who waited was behind a fluid scheduler."

// Rows is the table of arms: completed, rejected and expired of A / B / C, or
// of all.
func (d *Document) Rows() [][]string {
	var rows [][]string
	for _, name := range d.ArmOrder {
		r := d.Arms[name]
		rows = append(rows, []string{name, r.three(r.Completed), report.FormatCount(r.Rejected.Sum()), report.FormatCount(r.Expired.Sum()),
			report.FormatCount(r.PeakQueue), report.Format(r.Jain), report.Format(r.JainByCost), report.Format(r.WorstLag),
			lab.ScoreOf(d.Verdicts, name)})
	}
	return rows
}

// Page is the document for a browser.
func (d *Document) Page() *html.Page {
	arms := html.Prose{Heading: "Arms", Paragraphs: []string{
		"All jobs arrive at t = 0 in the order A, B, C, take one second, and start before the deadline or never. " +
			"Each tenant may queue at most 12. " +
			"Only what is named differs; the arm wrr has 3 slots, a burst of 30, a deadline of 4 s, weights 2:1:1."}}
	for _, s := range d.settings {
		arms.Items = append(arms.Items, s.Name+": "+s.Does)
	}
	table := html.Table{Heading: "Every arm", Head: Head, Rows: d.Rows(), Left: []int{1},
		Caption: Legend}
	return lab.Page(&d.Results, "Lab fair: a noisy tenant in a fixed service window", arms,
		d.bars(), d.course(), table, d.weights())
}

func (d *Document) bars() html.Section {
	b := html.Bars{Heading: "Completed, by tenant", X: html.Axis{Name: "jobs completed"},
		Caption: "Of the arms with three tenants who offer at one instant."}
	for _, s := range d.settings {
		if s.Crowd != nil || s.Stream != nil {
			continue
		}
		for _, tenant := range []string{"A", "B", "C"} {
			b.Bars = append(b.Bars, html.Bar{Name: s.Name + " " + tenant, Value: report.Number(d.Arms[s.Name].Completed[tenant]),
				Low: report.None(), High: report.None()})
		}
	}
	return b
}

func (d *Document) course() html.Section {
	l := html.Lines{Heading: "Queue", X: html.Axis{Name: "second"}, Y: html.Axis{Name: "waiting", Unit: "jobs"},
		Caption: "After each second's service and deadline sweep."}
	for i := range 10 {
		l.At = append(l.At, float64(i))
	}
	for _, s := range d.settings {
		if s.HorizonS != len(l.At) || s.Crowd != nil {
			continue
		}
		line := html.Line{Name: s.Name}
		for _, n := range d.Arms[s.Name].QueueHistory {
			line.Y = append(line.Y, report.Number(n))
		}
		l.Lines = append(l.Lines, line)
	}
	return l
}

func (d *Document) weights() html.Section {
	t := html.Table{Heading: "Shares by weight", Head: []string{"arm", "tenant", "weight", "offered", "completed", "cost", "completed / weight", "cost / weight"}, Left: []int{1},
		Caption: "Equal counts do not prove equal work: compare the last two columns."}
	for _, name := range d.ArmOrder {
		r := d.Arms[name]
		for _, tenant := range slices.Sorted(maps.Keys(r.NormalisedShare.ByCount)) {
			t.Rows = append(t.Rows, []string{name, tenant, strconv.Itoa(max(1, r.Weights[tenant])), report.FormatCount(r.Offered[tenant]),
				report.FormatCount(r.Completed[tenant]), report.FormatCount(r.CompletedCost[tenant]),
				report.Format(r.NormalisedShare.ByCount[tenant]), report.Format(r.NormalisedShare.ByCost[tenant])})
		}
	}
	return t
}
