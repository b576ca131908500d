package fallback

import (
	"fmt"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
)

func page(d *Document, arms html.Prose) *html.Page {
	sections := []html.Section{
		html.Table{Heading: "Every arm", Head: Head, Rows: d.Rows(), Caption: Legend},
		html.Prose{Heading: "What plan says beforehand, what differs clearly, and what not to rely on", Items: d.Lines()},
	}
	sections = append(sections, d.liveSections()...)
	sections = append(sections, d.timelines()...)
	sections = append(sections, d.tippingBars(), d.steps(), d.best450())
	sections = append(sections, d.priceSections()...)
	return lab.Page(&d.Results, "Lab fallback: what to answer when a dependency is slow", arms, sections...)
}

// timelines lay the flood over the arm beside it.
func (d *Document) timelines() []html.Section {
	flood := d.Timeline[floods]
	if flood == nil {
		return nil
	}
	at := make([]float64, len(flood))
	for i := range at {
		at[i] = float64(i)
	}
	line := func(name, arm string, of func(Second) report.Number) html.Line {
		l := html.Line{Name: name}
		for _, s := range d.Timeline[arm] {
			l.Y = append(l.Y, of(s))
		}
		return l
	}
	count := func(f func(Second) int) func(Second) report.Number {
		return func(s Second) report.Number { return report.Number(f(s)) }
	}
	calls, standIns := count(func(s Second) int { return s.Calls }), count(func(s Second) int { return s.StandIns })
	waiting, busy := count(func(s Second) int { return s.Waiting }), func(s Second) report.Number { return s.Busy }
	caption := fmt.Sprintf("Round %d, the first in which %s tipped; %s met the same dice.", d.TimelineRound, floods, beside)
	if !d.TimelineTipped {
		caption = fmt.Sprintf("Round %d; %s tipped in none of %d.", d.TimelineRound, floods, TippingRounds)
	}
	x := html.Axis{Name: "time", Unit: "s"}
	chart := func(heading, name, unit string, lines ...html.Line) html.Section {
		return html.Lines{Heading: heading, Caption: caption, X: x, Y: html.Axis{Name: name, Unit: unit}, At: at, Lines: lines, Half: true}
	}
	return []html.Section{
		chart("A flood, second by second: what is asked of the store", "in a second", "",
			line("offered", floods, count(func(s Second) int { return s.Offered })), line("calls, r2", floods, calls), line("calls, fb25", beside, calls),
			line("stand-ins, r2", floods, standIns), line("stand-ins, fb25", beside, standIns)),
		chart("Waiting in the store's line", "waiting", "", line("r2", floods, waiting), line("fb25", beside, waiting)),
		chart("Slots held", "slots", "", line("r2", floods, busy), line("fb25", beside, busy)),
	}
}

func (d *Document) tippingBars() html.Section {
	b := html.Bars{Heading: "Share of rounds that tip", X: html.Axis{Name: "share of rounds"}, Caption: "With the 95 % range of the true share."}
	for _, name := range d.ArmOrder {
		if t, asked := d.Tipping[name]; asked {
			b.Bars = append(b.Bars, html.Bar{Name: name, Value: t.Share, Low: t.Low, High: t.High, Class: "failed"})
		}
	}
	return b
}

// steps splits the slowest requests.
func (d *Document) steps() html.Section {
	t := html.Table{Heading: "The slowest 1 % of requests, in steps", Head: []string{"arm", "mean", "sender", "earlier", "line", "slot", "rest"},
		Caption: "Means in ms, medians over rounds: waiting for a sender, until the lookup was sent that decided, in the store's line, in its slot, scoring and network."}
	for _, name := range d.ArmOrder {
		m := &d.Arms[name].Median
		row := []string{name, report.Format(m.Slowest)}
		for _, v := range []report.Number{m.Steps.Sender, m.Steps.Earlier, m.Steps.Line, m.Steps.Slot, m.Steps.Rest} {
			row = append(row, report.Format(v))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (d *Document) best450() html.Section {
	t := html.Table{Heading: "Defences at 450/s, best first", Head: []string{"arm", "unanswered", "p99 ms", "calls", "tipped", "eligible"}, Left: []int{5},
		Caption: "Eligible: no round tipped, at most 10 % more calls than requests."}
	for _, v := range d.Ranking {
		eligible := "no"
		if v.Eligible {
			eligible = "yes"
		}
		t.Rows = append(t.Rows, []string{v.Arm, sharp(v.NotAnswered), report.Format(v.P99Ms), report.Format(v.Calls), report.Format(report.Number(v.Tipped)), eligible})
	}
	return t
}
