package fallback

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
)

// findings says in words what was found.
func (d *Document) findings() report.Strings {
	var f report.Strings
	say := func(format string, a ...any) { f = append(f, fmt.Sprintf(format, a...)) }
	med := func(names ...string) ([]*Round, bool) {
		var all []*Round
		for _, name := range names {
			r := d.Arms[name]
			if r == nil {
				return nil, false
			}
			all = append(all, &r.Median)
		}
		return all, true
	}
	f = append(f, d.liveFindings()...)
	ms := report.FormatMs
	if m, ok := med(OwnName); ok {
		say("p50 %s, p99 %s, p99.5 %s; %s stand-ins, %s errors; %s calls a request; up to %s waiting in the store's line; %d of %d rounds tipped.",
			ms(m[0].P50Ms), ms(m[0].P99Ms), ms(m[0].P995Ms), sharp(m[0].StandIns), sharp(m[0].Errors), report.Format(m[0].CallsPerRequest),
			report.Format(m[0].MaxWaiting), d.Tipping[OwnName].Tipped, d.Tipping[OwnName].Rounds)
	}
	if m, ok := med("H3-none", "H3-fb25"); ok {
		say("With 1 lookup in 100 that freezes, p99.5 is %s where the service waits, %s with a limit of 25 ms, for %s stand-ins.", ms(m[0].P995Ms), ms(m[1].P995Ms), sharp(m[1].StandIns))
	}
	if m, ok := med("H3-dl", "H3-dldown"); ok {
		say("A deadline is kept (slowest %s); only one that goes along spares the store: %s a call instead of %s.", ms(m[0].MaxMs), ms(m[1].StoreMsPerCall), ms(m[0].StoreMsPerCall))
	}
	if m, ok := med("H3-hedge", "H3-fb25"); ok {
		say("A second ask after 10 ms brings p99 from %s to %s and stand-ins from %s to %s, for %s more calls.", ms(m[1].P99Ms), ms(m[0].P99Ms), sharp(m[1].StandIns), sharp(m[0].StandIns), more(m[0].CallsPerRequest))
	}
	f = append(f, d.flood()...)
	if len(d.Ranking) > 1 && d.Ranking[0].Eligible {
		f = append(f, d.best())
	}
	for _, group := range []struct{ name, says string }{
		{"busy", "Where all lookups are slow together"}, {"customer", "Where one customer's lookups freeze every time"},
		{"apart", "With two copies that are busy by themselves"}, {"together", "With two copies that are busy together"},
	} {
		if m, ok := med("L4-"+group.name+"-fb25", "L4-"+group.name+"-r2-limitdown-b10", "L4-"+group.name+"-hedge-b10", "L4-"+group.name+"-all"); ok {
			say("%s: %s stand-ins without retries, %s with r2-limitdown-b10, %s with hedge-b10, %s with every defence.", group.says, sharp(m[0].StandIns), sharp(m[1].StandIns), sharp(m[2].StandIns), sharp(m[3].StandIns))
		}
	}
	f = append(f, d.priceFindings()...)
	return append(f, d.Score())
}

// flood says which arms tip.
func (d *Document) flood() []string {
	var tipped []string
	rounds, stood := 0, 0
	for _, name := range d.ArmOrder {
		t, asked := d.Tipping[name]
		if !asked || name == OwnName {
			continue
		}
		rounds = t.Rounds
		if t.Tipped > 0 {
			tipped = append(tipped, fmt.Sprintf("%s in %d (%s to %s)", name, t.Tipped, report.FormatPercent(t.Low), report.FormatPercent(t.High)))
		} else {
			stood++
		}
	}
	if rounds == 0 {
		return nil
	}
	later := ""
	if d.TimelineTipped && d.TimelineRound > rounds {
		later = fmt.Sprintf(" The first round in which %s tips is number %d; --tipping counts over %d.", floods, d.TimelineRound, TippingRounds)
	}
	if len(tipped) == 0 {
		return []string{fmt.Sprintf("At 450/s no arm tipped in %d rounds.%s", rounds, later)}
	}
	return []string{fmt.Sprintf("At 450/s one bad second becomes a flood that stays, in %d rounds: %s. In none: the other %d arms.%s", rounds, strings.Join(tipped, ", "), stood, later)}
}

// best says which defence is best at 450/s and by how much.
func (d *Document) best() string {
	best := d.Ranking[0]
	s := fmt.Sprintf("Best at 450/s (lowest share of stand-ins, no flood, at most 10 %% more calls): %s, with %s stand-ins, p99 %s and %s more calls",
		best.Arm, sharp(best.NotAnswered), report.FormatMs(best.P99Ms), more(best.Calls))
	for _, v := range d.Ranking[1:] {
		if v.Eligible {
			s += fmt.Sprintf("; next is %s with %s and %s", v.Arm, sharp(v.NotAnswered), report.FormatMs(v.P99Ms))
			break
		}
	}
	if i := slices.IndexFunc(d.Ranking, func(v Defence) bool { return v.Arm == beside }); i > 0 {
		s += fmt.Sprintf("; without retries and hedges (fb25) it is %s and %s", sharp(d.Ranking[i].NotAnswered), report.FormatMs(d.Ranking[i].P99Ms))
	}
	return s + "."
}

// more is how many more calls than requests.
func more(calls report.Number) string { return report.FormatPercent(calls - 1) }

// Head is the head of the table of arms.
var Head = []string{"arm", "p99", "p99.5", "max", "stand-ins", "errors", "calls", "store", "line", "tipped"}

// Rows is the table of arms: medians over the rounds.
func (d *Document) Rows() [][]string {
	var rows [][]string
	for _, name := range d.ArmOrder {
		r := d.Arms[name]
		m := &r.Median
		mark := ""
		if len(r.Warnings) > 0 {
			mark = "?"
		}
		tipped := "-"
		if t, asked := d.Tipping[name]; asked {
			tipped = fmt.Sprintf("%d/%d", t.Tipped, t.Rounds)
		}
		rows = append(rows, []string{name, report.Format(m.P99Ms) + mark, report.Format(m.P995Ms), report.Format(m.MaxMs),
			sharp(m.StandIns), sharp(m.Errors), report.Format(m.CallsPerRequest), report.Format(m.StoreMsPerCall), report.Format(m.MaxWaiting), tipped})
	}
	return rows
}

// Legend says what the columns of the table of arms are.
const Legend = "Medians over the rounds, ms from the scheduled instant, stand-ins and errors included. calls: a request; store: ms a call that a slot was held; " +
	"line: most that waited at the store; tipped: rounds with more than half unanswered in their last 5 s. ?: p99 sits at the rate of the event that it measures."

// Lines are what stands below the table: plan's arithmetic, what differs clearly,
// and a frozen lookup.
func (d *Document) Lines() []string {
	var lines []string
	for _, f := range d.Plan {
		lines = append(lines, fmt.Sprintf("%s: %s %s (%s; %s)", f.Name, report.Format(report.Number(f.Value)), f.Unit, f.Formula, f.Assumption))
	}
	for i := range d.Comparisons {
		lines = append(lines, d.Comparisons[i].line())
	}
	for _, name := range d.ArmOrder {
		for _, w := range d.Arms[name].Warnings {
			lines = append(lines, name+": "+w)
		}
	}
	return append(lines, d.frozenLines()...)
}

func (d *Document) frozenLines() []string {
	if d.Frozen == nil {
		return nil
	}
	lines := []string{fmt.Sprintf("Request %d of the first round, whose first lookup drew %s (ms since it was due):", d.Frozen.Request, report.FormatMs(d.Frozen.DrawnMs))}
	for _, name := range d.ArmOrder {
		if p, there := d.Frozen.Arms[name]; there {
			lines = append(lines, fmt.Sprintf("%s: %s", name, p.line()))
		}
	}
	return lines
}

// Page is the document for a browser.
func (d *Document) Page() *html.Page {
	arms := html.Prose{Heading: "Arms"}
	for i := range d.settings {
		arms.Items = append(arms.Items, d.settings[i].Name+": "+d.settings[i].Does)
	}
	return page(d, arms)
}
