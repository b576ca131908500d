package limits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
)

// Does says of each law what it does.
func Does(l limit.Law) string {
	return map[limit.Law]string{
		limit.Knee:      "Spillway's own: every move of the limit is an experiment, judged by what latency does then",
		limit.AIMD:      "up by one a turn, down by a tenth at a drop (Chiu and Jain 1989)",
		limit.Vegas:     "holds the queue that it estimates between 3 and 6 times the limit's logarithm (after Netflix's concurrency-limits)",
		limit.Gradient2: "follows the ratio of a long mean of latencies to the latest, with a tolerance of 1.5 (after Netflix's concurrency-limits)",
		limit.MinRTT:    "measures the least latency at a limit of 3 every minute and follows the ratio to it (after Envoy's documentation)",
	}[l]
}

// Describes says of each scenario what happens.
var Describes = map[string]string{
	"steps":    "capacity 100, at 20 s 25, at 40 s 100; demand 120 % of 100 all the time",
	"drift":    "from 20 s on capacity falls by 1 a second to 50, and comes back",
	"slow":     "from 20 s on all calls take ten times as long, for half an hour; as many as before may run at once",
	"timeouts": "from 20 to 50 s nothing answers; calls end after 200 ms",
	"bursts":   "demand 50 %, every fifth second 200 %",
	"routes":   "two classes on one resource: half of the work is of calls that take five times as long",
	"overload": "demand 120 %",
	"healthy":  "demand 50 %, for half an hour",
	"surge":    "demand 50 %, from 20 s on 140 %",
}

// findings says in words what was seen.
func (d *Document) findings() report.Strings {
	var f report.Strings
	for _, law := range d.laws() {
		s := d.Summary[law]
		say := fmt.Sprintf("%s: ", law)
		if s.Steps > 0 {
			say += fmt.Sprintf("%d of %d changes found in time, work in flight %s off capacity in the mean, ",
				s.InTime, s.Steps, report.FormatPercent(s.Error))
		}
		f = append(f, say+fmt.Sprintf("%d refused while nothing was wrong.", s.Healthy))
	}
	if b := d.beaten(); len(b) > 0 {
		f = append(f, "Where another law is better than "+limit.Knee.String()+": "+strings.Join(b, "; ")+".")
	}
	return append(f, d.Score())
}

// beaten says where another law is better than the default.
func (d *Document) beaten() []string {
	var all []string
	own := d.Summary[limit.Knee.String()]
	if own == nil {
		return nil
	}
	for _, law := range d.laws() {
		s := d.Summary[law]
		better := func(name string, is bool, theirs, ours string) {
			if is {
				all = append(all, fmt.Sprintf("%s, %s %s against %s", law, name, theirs, ours))
			}
		}
		better("error", s.Error < own.Error, report.FormatPercent(s.Error), report.FormatPercent(own.Error))
		better("wasted capacity", s.Wasted < own.Wasted, report.FormatPercent(s.Wasted), report.FormatPercent(own.Wasted))
		better("worst second of the surge", s.Worst > own.Worst, report.FormatPercent(s.Worst), report.FormatPercent(own.Worst))
		better("latency under overload", s.MeanMS < own.MeanMS, report.FormatMs(s.MeanMS), report.FormatMs(own.MeanMS))
		better("refused in the first ten seconds", s.Cold < own.Cold, report.FormatCount(s.Cold), report.FormatCount(own.Cold))
	}
	return all
}

// laws are those that were played, in order.
func (d *Document) laws() []string {
	var names []string
	for i := range d.settings {
		if l := d.settings[i].Law; !slices.Contains(names, l) {
			names = append(names, l)
		}
	}
	return names
}

// Head is the head of the summary.
var Head = []string{"law", "found", "slowest", "error", "within", "over", "wasted", "healthy", "cold", "surge", "overload"}

// Legend says what its columns are.
const Legend = "found: changes found in the later of 5 s and 250 service times. slowest: of them, in parts of that. error: of work in flight against true capacity, " +
	"in the mean, once that time is over. within: seconds within a tenth. over: the longest run of seconds above 1.3 times capacity. wasted: what the resource could " +
	"have done and did not. healthy: refused at half load, in half an hour; cold: in its first ten seconds. surge: the worst second's goodput when demand jumps from " +
	"50 to 140 %. overload: mean time of who was served at 120 %."

// Rows are those of the summary.
func (d *Document) Rows() [][]string {
	var rows [][]string
	for _, law := range d.laws() {
		s := d.Summary[law]
		slowest := "never"
		if s.Slowest.Known() {
			slowest = report.Format(s.Slowest)
		}
		rows = append(rows, []string{law, fmt.Sprintf("%d/%d", s.InTime, s.Steps), slowest, report.FormatPercent(s.Error), report.FormatPercent(s.Within),
			fmt.Sprintf("%d s", s.OverS), report.FormatPercent(s.Wasted), report.FormatCount(s.Healthy), report.FormatCount(s.Cold),
			report.FormatPercent(s.Worst), report.FormatMs(s.MeanMS)})
	}
	return rows
}

// ArmHead is the head of the table of arms.
var ArmHead = []string{"arm", "found after", "error", "within", "over", "wasted", "most", "goodput", "predictions"}

// ArmRows are the arms.
func (d *Document) ArmRows() [][]string {
	var rows [][]string
	for _, name := range d.ArmOrder {
		r := d.Arms[name]
		var after []string
		for _, f := range r.Steps {
			s := "never"
			if f.FoundS.Known() {
				s = report.Format(f.FoundS)
			}
			after = append(after, s)
		}
		if len(after) == 0 {
			after = []string{"-"}
		}
		rows = append(rows, []string{name, strings.Join(after, ", "), report.FormatPercent(r.Error), report.FormatPercent(r.Within), fmt.Sprintf("%d s", r.OverS),
			report.FormatPercent(r.Wasted), fmt.Sprintf("%.0f", float64(r.Most)), report.FormatPercent(r.Goodput), lab.ScoreOf(d.Verdicts, name)})
	}
	return rows
}

// Page is the document for a browser.
func (d *Document) Page() *html.Page {
	arms := html.Prose{Heading: "Arms", Paragraphs: []string{fmt.Sprintf(
		"A resource works on %d calls at once, of %d ms in the mean (log-normal, one in a hundred above 60 ms), and lets wait what it is sent beyond: that costs time and gives no more a second. "+
			"In front of it a class with %d waiting places and a deadline of one second, and a limit that each law finds by itself, from 20, between 1 and %d.",
		capacity, serviceMS, room, ceiling)}}
	for _, l := range laws {
		arms.Items = append(arms.Items, l.String()+": "+Does(l))
	}
	for _, s := range scenarios(false) {
		arms.Items = append(arms.Items, s.Scenario+": "+Describes[s.Scenario])
	}
	sections := []html.Section{
		html.Table{Heading: "Laws", Head: Head, Rows: d.Rows(), Left: []int{1}, Caption: Legend},
		html.Table{Heading: "Arms", Head: ArmHead, Rows: d.ArmRows(), Left: []int{1}},
	}
	return lab.Page(&d.Results, "Lab limits: a limit that finds the capacity by itself", arms, append(sections, d.courses()...)...)
}

// courses show work in flight second by second, a chart a scenario.
func (d *Document) courses() []html.Section {
	var all []html.Section
	for _, one := range scenarios(false) {
		l := html.Lines{Heading: "In flight: " + one.Scenario, X: html.Axis{Name: "second"}, Y: html.Axis{Name: "in flight"}, Caption: Describes[one.Scenario]}
		for i := range d.settings {
			s := &d.settings[i]
			if s.Scenario != one.Scenario {
				continue
			}
			course := d.Arms[s.Name].InFlight
			if len(l.At) == 0 {
				bound := html.Line{Name: "capacity", Bound: true}
				for j := range course {
					second := j * max(1, s.ForS/len(course))
					p, _ := s.phase(second)
					l.At = append(l.At, float64(second))
					bound.Y = append(bound.Y, report.Number(p.Capacity))
				}
				l.Lines = append(l.Lines, bound)
			}
			l.Lines = append(l.Lines, html.Line{Name: s.Law, Y: course})
		}
		if len(l.At) > 0 {
			all = append(all, l)
		}
	}
	return all
}
