package strip

import (
	"fmt"
	"math"
	"slices"

	"github.com/spillway-dev/spillway/lab/strip/live"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
	"github.com/spillway-dev/spillway/report/text"
)

// Beside is an arm live and in virtual time, where the same keystrokes come at the same
// instants.
type Beside struct {
	Arm     string `json:"arm"`
	Virtual string `json:"virtual"` // the arm that is the same in virtual time
	// Live less virtual, in shares of the keystrokes.
	ShedDifference   report.Number `json:"shed_share_difference"`
	OnTimeDifference report.Number `json:"on_time_share_difference"`
	HitDifference    report.Number `json:"hit_at_3_difference"`
	Within           bool          `json:"within"`
}

// How far live figures may be from those of virtual time.
const (
	nearShed   = 0.03
	nearOnTime = 0.02
	nearHit    = 0.01
)

// layBeside compares what was played live with the same in virtual time.
func (d *Document) layBeside() {
	if d.Live == nil {
		return
	}
	for i := range d.settings {
		twin := &d.settings[i]
		if twin.Twin == "" {
			continue
		}
		l, v := d.Arms[twin.Twin], d.Arms[twin.Name]
		b := Beside{Arm: twin.Twin, Virtual: twin.Name, ShedDifference: l.ShedShare - v.ShedShare, OnTimeDifference: l.OnTimeShare - v.OnTimeShare, HitDifference: l.Hit - v.Hit}
		b.Within = near(b.ShedDifference, nearShed) && near(b.OnTimeDifference, nearOnTime) && near(b.HitDifference, nearHit)
		d.Live.Beside = append(d.Live.Beside, b)
	}
}

func near(x report.Number, by float64) bool { return math.Abs(float64(x)) <= by }

// liveFindings stand first: whose times these are, and how far they agree.
func (d *Document) liveFindings() report.Strings {
	if d.Live == nil {
		return nil
	}
	f := report.Strings{d.machine(), fmt.Sprintf("%s With a half of what fits a keystroke took %s through the gateway; in virtual time it takes that too.", d.Live.Scale, report.FormatMs(d.Live.HeldMs))}
	within := 0
	for i := range d.Live.Beside {
		b := &d.Live.Beside[i]
		if b.Within {
			within++
			continue
		}
		f = append(f, fmt.Sprintf("%s differs from virtual time: shed %+.1f points, in time %+.1f points, hit@3 %+.4f. %s", b.Arm,
			100*float64(b.ShedDifference), 100*float64(b.OnTimeDifference), float64(b.HitDifference), d.why(b.Arm)))
	}
	return append(f, fmt.Sprintf("%d of %d arms agree with virtual time, the same keystrokes: shed within %.0f points, in time within %.0f, hit@3 within %.2f.",
		within, len(d.Live.Beside), 100*nearShed, 100*nearOnTime, nearHit))
}

// machine says whose times these are.
func (d *Document) machine() string {
	var all []live.Facts
	for _, of := range d.Live.Machine { // order does not matter: the greatest of each, and sums
		all = append(all, of...)
	}
	most := func(of func(*live.Facts) report.Number) report.Number {
		worst := report.None()
		for i := range all {
			if x := of(&all[i]); x.Known() && !(worst.Known() && worst >= x) {
				worst = x
			}
		}
		return worst
	}
	restless, checked := 0, 0
	for i := range all {
		restless += int(one(!all[i].Quiet))
		checked += all[i].Checked
	}
	quiet := "idle for 2 s before each round"
	if restless > 0 {
		quiet = fmt.Sprintf("NOT idle before %d of %d rounds", restless, len(all))
	}
	busy := func(part string) string {
		return report.Format(most(func(f *live.Facts) report.Number { return f.CPU[part] }))
	}
	return fmt.Sprintf("These times are this machine's: %d cores, load up to %s, %s, at most %s of a round stolen. Busy cores: tester %s, gateway %s, scorer %s. Sent late: p99 at most %s. All %s answers were checked.",
		all[0].Cores, report.Format(most(func(f *live.Facts) report.Number { return f.Load })), quiet,
		report.FormatPercent(most(func(f *live.Facts) report.Number { return f.Stolen })), busy(live.Tester), busy(live.Gateway), busy(live.Scorer),
		report.FormatMs(most(func(f *live.Facts) report.Number { return f.LagP99Ms })), report.FormatCount(int64(checked)))
}

// why says what was recorded that may explain a difference.
func (d *Document) why(arm string) string {
	of := d.Live.Machine[arm]
	switch {
	case slices.ContainsFunc(of, func(f live.Facts) bool { return f.Unsent > 0 }):
		return "Not all was sent, for want of connections."
	case slices.ContainsFunc(of, func(f live.Facts) bool { return float64(f.LagP99Ms) > 1 }):
		return "The tester sent late, at times."
	case slices.ContainsFunc(of, func(f live.Facts) bool { return !f.Quiet }):
		return "The machine was not idle before."
	}
	return "Nothing that was recorded explains it."
}

var besideHead = []string{"arm", "agrees", "shed %", "virtual", "in time %", "virtual", "p99 ms", "virtual", "hit@3", "virtual"}

const besideTitle = "Live beside virtual time, the same keystrokes"

func (d *Document) besideRows() (rows [][]string) {
	for i := range d.Live.Beside {
		b := &d.Live.Beside[i]
		l, v := d.Arms[b.Arm], d.Arms[b.Virtual]
		agrees := "no"
		if b.Within {
			agrees = "yes"
		}
		row := []string{b.Arm, agrees}
		for _, r := range [...][2]string{
			{percent(float64(l.ShedShare)), percent(float64(v.ShedShare))},
			{percent(float64(l.OnTimeShare)), percent(float64(v.OnTimeShare))}, {report.Format(l.P99Ms), report.Format(v.P99Ms)}, {digits(float64(l.Hit)), digits(float64(v.Hit))},
		} {
			row = append(row, r[0], r[1])
		}
		rows = append(rows, row)
	}
	return rows
}

// LiveTables are for a terminal, if the run was live.
func (d *Document) LiveTables() []text.Table {
	if d.Live == nil {
		return nil
	}
	return []text.Table{{Title: besideTitle, Head: besideHead, Rows: d.besideRows()}}
}

func (d *Document) liveSections() []html.Section {
	if d.Live == nil {
		return nil
	}
	return []html.Section{html.Table{Heading: "Live beside virtual time", Head: besideHead, Rows: d.besideRows(), Caption: besideTitle}}
}
