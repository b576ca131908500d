package pool

import (
	"fmt"
	"slices"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
)

// findings says in words what each group of arms showed.
func (d *Document) findings() report.Strings {
	var f report.Strings
	say := func(format string, a ...any) { f = append(f, fmt.Sprintf(format, a...)) }
	got := func(names ...string) ([]*Result, bool) {
		var all []*Result
		for _, name := range names {
			r := d.Arms[name]
			if r == nil {
				return nil, false
			}
			all = append(all, r)
		}
		return all, true
	}
	rate, ms, percent := report.FormatRate, report.FormatMs, report.FormatPercent
	say("The pool can do %s and is offered %s; the budget is %s.", rate(report.Number(d.options.capacity())), rate(report.Number(d.options.Rate)), ms(report.Number(inMs(d.options.Budget))))
	if r, ok := got("bound-derived", "bound-last-year", "bound-none"); ok {
		say("Bound: %s places, derived, keep p99 at %s and answer %s in budget; last year's %s answer %s in budget (p99 %s) and turn the first caller away after %s s instead of %s s; without a bound it is %s, and %s of the work is for callers who have left.",
			report.FormatCount(r[0].Bounds["tasks"]), ms(r[0].P99Ms), rate(r[0].InBudgetPerS), report.FormatCount(r[1].Bounds["tasks"]), rate(r[1].InBudgetPerS), ms(r[1].P99Ms),
			report.Format(r[1].FirstTurnedAwayS), report.Format(r[0].FirstTurnedAwayS), rate(r[2].InBudgetPerS), percent(1-r[2].UsefulWorkShare))
	}
	if r, ok := got("bound-derived-varied"); ok {
		say("A bound limits the wait, not the work: where work varies about the same mean the wait's p99 is %s, but p99 is %s and %s are in budget; leave service its tail when the budget is set.",
			ms(r[0].QueueWaitP99Ms), ms(r[0].P99Ms), rate(r[0].InBudgetPerS))
	}
	if r, ok := got("shared", "pools", "pools-borrow", "checkout-alone"); ok && r[0].Tenants["checkout"] != nil {
		say("One pool or one a class: beside the flood checkout gets %s of its %s/s in a shared pool, %s with a p99 of %s in its own (%s without the flood). What that costs: %s of the slots used, and %s slot-seconds idle while analytics was refused; if analytics may borrow them it is %s, and checkout's p99 %s.",
			rate(r[0].Tenants["checkout"].GoodputPerS), report.Format(report.PerSecond(r[3].Offered, float64(r[3].Seconds))),
			rate(r[1].Classes["checkout"].GoodputPerS), ms(r[1].Classes["checkout"].P99Ms), ms(r[3].Classes["checkout"].P99Ms),
			percent(r[1].Utilisation), report.Format(r[1].IdleWhileRefusingS), percent(r[2].Utilisation), ms(r[2].Classes["checkout"].P99Ms))
	}
	if r, ok := got("full-drop", "full-fail-fast", "full-block"); ok {
		say("When full: dropping serves %s and counts %s dropped; failing fast serves %s with refusals told in %s; blocking through three stages serves %s, the stage before the narrow one is held up %s of its time, and producers wait %s s in all.",
			rate(r[0].GoodputPerS), report.FormatCount(r[0].Reasons["dropped"]), rate(r[1].GoodputPerS), ms(r[1].RefusedP50Ms),
			rate(r[2].GoodputPerS), percent(r[2].Stages[0].BlockedShare), report.Format(r[2].Stages[0].BlockedTotalMs/1000))
	}
	if r, ok := got("deadline-ignored", "deadline-at-start", "deadline-feasible"); ok {
		say("Deadlines: %s of the work is useful where they are ignored, %s where the expired are skipped at the start, %s where what is started must have time left.",
			percent(r[0].UsefulWorkShare), percent(r[1].UsefulWorkShare), percent(r[2].UsefulWorkShare))
	}
	if r, ok := got("order-fifo", "order-lifo", "order-adaptive", "order-adaptive-hasty"); ok {
		say("Order under lasting overload, in a room too large: %s in budget oldest first, %s newest first, %s adaptive; %s adaptive where callers leave before they have waited that long.",
			rate(r[0].InBudgetPerS), rate(r[1].InBudgetPerS), rate(r[2].InBudgetPerS), rate(r[3].InBudgetPerS))
	}
	if r, ok := got("producers-no-retry", "producers-at-once", "producers-budget", "producers-unprotected"); ok {
		say("Producers: with three retries at once attempts grow to %s a caller and goodput stays at %s (%s without retries): refusals do not amplify; a budget keeps attempts at %s. The same producers without a boundary leave %s.",
			report.Format(r[1].AttemptsPerCaller), rate(r[1].GoodputPerS), rate(r[0].GoodputPerS), report.Format(r[2].AttemptsPerCaller), rate(r[3].GoodputPerS))
	}
	if r, ok := got("producers-library", "producers-breaker", "producers-library-alone", "producers-breaker-alone"); ok {
		say("Through the client library they make %s attempts a caller, for they come back no earlier than they are told to, and get %s. A breaker is all or nothing: %s, for it opens where half is refused. Without a boundary the library's budget saves nothing (%s), and the breaker some (%s).",
			report.Format(r[0].AttemptsPerCaller), rate(r[0].GoodputPerS), rate(r[1].GoodputPerS), rate(r[2].GoodputPerS), rate(r[3].GoodputPerS))
	}
	if r, ok := got("nested-27", "nested-budget"); ok {
		say("Nested: three layers of three attempts make %s calls of one, %s with a retry budget; plan says %s.",
			report.Format(r[0].CallsPerCaller), report.Format(r[1].CallsPerCaller), report.Format(report.Number(d.Plan.AmplificationMax)))
	}
	if r, ok := got("outward-edge-none", "outward-edge"); ok && r[0].Tenants["client-1"] != nil {
		say("At the edge: beside one greedy client a modest one gets %s; with a limit of each client's share at the edge %s, and the greedy %s. What it costs: %s of the slots used instead of %s, for a share that is not asked for is nobody's.",
			rate(r[0].Tenants["client-1"].GoodputPerS), rate(r[1].Tenants["client-1"].GoodputPerS), rate(r[1].Tenants["greedy"].GoodputPerS),
			percent(r[1].Utilisation), percent(r[0].Utilisation))
	}
	if r, ok := got("outward-latency-none", "outward-latency"); ok {
		say("At a door that believes in four times the workers: %s in budget; %s where it refuses by measured latency, which is less than the pool can do: who knows its size loses nothing.",
			rate(r[0].InBudgetPerS), rate(r[1].InBudgetPerS))
	}
	if r, ok := got("outward-balancer-deaf", "outward-balancer", "outward-all-deaf", "outward-all"); ok {
		say("At a balancer: where one of four copies is too small, readiness that follows shedding serves %s instead of %s; where all are overloaded alike it serves %s instead of %s, for those that are not ready idle.",
			rate(r[1].GoodputPerS), rate(r[0].GoodputPerS), rate(r[3].GoodputPerS), rate(r[2].GoodputPerS))
	}
	if r, ok := got("outward-cheaper-mode", "outward-cheaper-by-hand"); ok {
		say("A cheaper mode: with a list for whoever is too many %s of the callers are answered, %s in full; where an operator gives it to everybody for a third of the time %s in full, for what there was room for is lost.",
			percent(r[0].CallersAnswered), rate(r[0].GoodputPerS), rate(r[1].GoodputPerS))
	}
	return append(f, d.Score())
}

// Head is the head of the table of arms.
var Head = []string{"arm", "goodput", "budget", "p99 ms", "useful", "used", "idle s", "turned", "peak", "tries", "held"}

// Rows is the table of arms.
func (d *Document) Rows() [][]string {
	var rows [][]string
	for _, name := range d.ArmOrder {
		r := d.Arms[name]
		rows = append(rows, []string{name, report.Format(r.GoodputPerS), report.Format(r.InBudgetPerS), report.Format(r.P99Ms),
			report.FormatPercent(r.UsefulWorkShare), report.FormatPercent(r.Utilisation), report.Format(r.IdleWhileRefusingS),
			report.Format(r.FirstTurnedAwayS), report.Format(r.PeakQueue), report.Format(r.AttemptsPerCaller), lab.ScoreOf(d.Verdicts, name)})
	}
	return rows
}

// Legend says what the columns of the table of arms are.
const Legend = "goodput, budget: answers/s inside the deadline, inside the budget; useful: share of the work whose caller still waited; " +
	"used: of the slots; idle s: slots x seconds that were idle while a class that may not use them refused or let wait; turned: seconds until the first was turned away; " +
	"tries: attempts a caller; held: predictions that held, ! where one did not. Rates are per second of offered load; what is answered after its end counts."

// PlanLines are plan's figures in words, each with the assumption it rests on.
func (d *Document) PlanLines() []string {
	var lines []string
	for _, f := range slices.Concat(d.Plan.Classes["tasks"].Figures, d.Plan.Figures, d.Worked) {
		lines = append(lines, fmt.Sprintf("%s: %s %s (%s)", f.Name, report.Format(report.Number(f.Value)), f.Unit, f.Assumption))
	}
	return lines
}

// Page is the document for a browser.
func (d *Document) Page() *html.Page {
	arms := html.Prose{Heading: "Arms"}
	for _, s := range d.settings {
		arms.Items = append(arms.Items, s.Name+": "+s.Does)
	}
	sections := []html.Section{
		html.Table{Heading: "Every arm", Head: Head, Rows: d.Rows(), Caption: Legend},
		html.Prose{Heading: "What plan says beforehand", Items: d.PlanLines(), Paragraphs: []string{
			"Each figure with what it takes for granted: for one pool with the derived bound, below three layers of callers who try three times; then sums to check by hand."}},
	}
	for _, name := range []string{"bound-none", "bound-last-year", "bound-derived", "shared", "pools", "producers-at-once"} {
		if p := d.played[name]; p != nil {
			sections = append(sections, html.River{Heading: name, River: p.traffic.Series.Total().River(p.traffic.Rungs), Half: true,
				Caption: "What was offered, and what became of it."})
		}
	}
	sections = append(sections, d.waits(), d.inBudget(), d.stages(), d.reasons())
	return lab.Page(&d.Results, "Lab pool: the submission boundary of a worker pool", arms, sections...)
}

func (d *Document) inBudget() html.Section {
	b := html.Bars{Heading: "Answers in budget", X: html.Axis{Name: "answers in budget", Unit: "/s"}}
	for _, name := range d.ArmOrder {
		b.Bars = append(b.Bars, html.Bar{Name: name, Value: d.Arms[name].InBudgetPerS, Low: report.None(), High: report.None()})
	}
	return b
}

// waits shows how long a large room stays saturated unnoticed.
func (d *Document) waits() html.Section {
	l := html.Lines{Heading: "Queue wait by bound", X: html.Axis{Name: "time", Unit: "s"}, Y: html.Axis{Name: "p99 of queue wait", Unit: "ms", Log: true},
		Caption: "Of those who were started in each moment. A large bound is not headroom but a longer time of being saturated unnoticed."}
	for _, name := range []string{"bound-none", "bound-last-year", "bound-derived"} {
		p := d.played[name]
		if p == nil {
			continue
		}
		s := p.traffic.Series.Total()
		if len(s.TS) > len(l.At) {
			l.At = l.At[:0]
			for _, t := range s.TS {
				l.At = append(l.At, float64(t))
			}
		}
		l.Lines = append(l.Lines, html.Line{Name: name, Y: s.QueueWaitP99Ms})
	}
	return l
}

func (d *Document) stages() html.Section {
	t := html.Table{Heading: "Stages of full-block", Head: []string{"stage", "offered", "served", "turned away", "working", "held up by the next", "producers held", "held for s"},
		Caption: "Back pressure runs against the stream: the narrow stage holds up the one before it, and that one its producers."}
	if r := d.Arms["full-block"]; r != nil {
		for _, st := range r.Stages {
			t.Rows = append(t.Rows, []string{st.Name, report.FormatCount(st.Offered), report.FormatCount(st.Reasons["served"]),
				report.FormatCount(st.Offered - st.Reasons["served"]), report.FormatPercent(st.Utilisation), report.FormatPercent(st.BlockedShare),
				report.FormatCount(st.Blocked), report.Format(st.BlockedTotalMs / 1000)})
		}
	}
	return t
}

func (d *Document) reasons() html.Section {
	var names []string
	for _, arm := range d.ArmOrder {
		for _, name := range d.Arms[arm].Reasons.Names() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	t := html.Table{Heading: "Reasons", Head: append([]string{"arm", "offered"}, names...), Caption: "Every attempt has one."}
	for _, arm := range d.ArmOrder {
		row := []string{arm, report.FormatCount(d.Arms[arm].Offered)}
		for _, name := range names {
			row = append(row, report.FormatCount(d.Arms[arm].Reasons[name]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
