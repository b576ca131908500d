package ap

import (
	"fmt"
	"strings"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
	"github.com/spillway-dev/spillway/report/text"
)

// Head names the columns of a result's rows.
var Head = []string{"arm", "stand-ins", "put in", "change of AP", "95 % range", "loses at most", "verdict"}

// Caption says what the rows are about.
const Caption = "Change of the average precision of a ranking of customers by who buys again within 30 days, when an arm's stand-ins are " +
	"put in place of today's scores: last known, the same customer's of a month before; default, the share of buyers in training; none, ranked last."

// Rows are three for every arm that had stand-ins, one for one that had none.
func (r *Result) Rows() [][]string {
	var rows [][]string
	for _, name := range r.Order {
		c := r.Arms[name]
		if c.StandIns == 0 {
			rows = append(rows, []string{name, "0 %", "", signed(0), "", "", NoStandIn})
			continue
		}
		for i, s := range c.standIns() {
			row := []string{"", "", s.name, signed(s.Delta), signed(s.Low) + " to " + signed(s.High), loss(s.LargestLoss), s.Verdict}
			if i == 0 {
				row[0], row[1] = name, sharper(c.StandInShare)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// Table is the result for a terminal.
func (r *Result) Table() text.Table {
	return text.Table{Title: "What stand-ins cost (last known: last month's score; default: share of buyers; none: ranked last)", Head: Head, Rows: r.Rows(), Left: []int{2, 6}}
}

// Section is the result for a page.
func (r *Result) Section() html.Section {
	return html.Table{Heading: "What stand-ins cost", Head: Head, Rows: r.Rows(), Caption: Caption}
}

// Findings say in sentences what the ranking is worth, and what the arms with the
// fewest and the most stand-ins lose.
func (r *Result) Findings() []string {
	f := r.Ranking
	say := []string{fmt.Sprintf(
		"What stand-ins cost (%s): ranked by today's scores the average precision is %.4f at %d cutoffs; %s of %s ranked buy again within 30 days, and the last order alone gives %.4f.",
		f.Events, f.Live, f.CutoffsRanked, report.FormatPercent(f.BuyersRanked), report.FormatCount(int64(f.RowsRanked)), f.ByLastOrder)}
	var fewest, most string
	for _, name := range r.Order {
		c := r.Arms[name]
		if c.LastKnown.Verdict == NoStandIn {
			continue
		}
		if fewest == "" || c.StandInShare < r.Arms[fewest].StandInShare {
			fewest = name
		}
		if most == "" || c.StandInShare > r.Arms[most].StandInShare {
			most = name
		}
	}
	for _, name := range []string{fewest, most} {
		if name == "" || name == fewest && len(say) > 1 {
			continue
		}
		c := r.Arms[name]
		say = append(say, fmt.Sprintf("%s, %s stand-ins: the last known score changes it by %s (%s), the default by %s, no score by %s.",
			name, sharper(c.StandInShare), signed(c.LastKnown.Delta), c.LastKnown.words(), signed(c.Default.Delta), signed(c.None.Delta)))
	}
	return say
}

type named struct {
	name string
	Change
}

func (c *Cost) standIns() []named {
	return []named{{"last known", c.LastKnown}, {"default", c.Default}, {"none", c.None}}
}

// words is the verdict, and where it is none what may still be lost.
func (c Change) words() string {
	if c.Verdict != TooClose {
		return c.Verdict
	}
	return fmt.Sprintf("%s; may lose %s", TooClose, loss(c.LargestLoss))
}

// signed writes a change: to four decimals, a small one to five.
func signed(n report.Number) string {
	switch {
	case n > -0.000005 && n < 0.000005:
		return "0"
	case n > -0.001 && n < 0.001:
		return fmt.Sprintf("%+.5f", float64(n))
	}
	return fmt.Sprintf("%+.4f", float64(n))
}

// loss writes a loss as signed does, without the sign.
func loss(n report.Number) string { return strings.TrimPrefix(signed(n), "+") }

// sharper is a share in percent to two decimals: stand-ins are few.
func sharper(n report.Number) string { return fmt.Sprintf("%.2f %%", 100*float64(n)) }
