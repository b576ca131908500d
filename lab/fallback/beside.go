package fallback

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/lab/fallback/live"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
	"github.com/spillway-dev/spillway/report/text"
)

// How far live figures may be from those of virtual time, medians over rounds with the
// same dice.
const (
	nearP99    = 0.15  // of virtual time's
	nearShares = 0.005 // of requests
)

// Beside is an arm live and in virtual time.
type Beside struct {
	Arm        string        `json:"arm"`
	P50Ms      report.Number `json:"p50_ms"`
	P50Virtual report.Number `json:"p50_virtual_ms"`
	P99Ms      report.Number `json:"p99_ms"`
	P99Virtual report.Number `json:"p99_virtual_ms"`
	// P99Difference is live less virtual, as a share of virtual.
	P99Difference report.Number `json:"p99_difference"`
	// NotAnswered is the share of stand-ins or errors.
	NotAnswered        report.Number `json:"not_answered_share"`
	NotAnsweredVirtual report.Number `json:"not_answered_virtual_share"`
	Points             report.Number `json:"not_answered_difference_points"` // percentage points
	Within             bool          `json:"within"`
	// Why says what was recorded that may explain a difference; empty where Within.
	Why string `json:"why"`
}

// layBeside plays what was played live in virtual time too.
func (d *Document) layBeside() error {
	if d.Live == nil {
		return nil
	}
	for i := range d.settings {
		s := &d.settings[i]
		rounds, err := s.playRounds(d.Seed, 0, d.options.Rounds, figuresOnly, nil)
		if err != nil {
			return err
		}
		v, l := medianOf(rounds), &d.Arms[s.Name].Median
		b := Beside{
			Arm: s.Name, P50Ms: l.P50Ms, P50Virtual: v.P50Ms, P99Ms: l.P99Ms, P99Virtual: v.P99Ms, P99Difference: l.P99Ms/v.P99Ms - 1,
			NotAnswered: l.StandIns + l.Errors, NotAnsweredVirtual: v.StandIns + v.Errors,
		}
		b.Points = 100 * (b.NotAnswered - b.NotAnsweredVirtual)
		b.Within = math.Abs(float64(b.P99Difference)) <= nearP99 && math.Abs(float64(b.Points)) <= 100*nearShares
		if !b.Within {
			b.Why = why(l, &v, d.Live.Machine[s.Name])
		}
		d.Live.Beside = append(d.Live.Beside, b)
	}
	return nil
}

// why says what was recorded that makes live rounds differ from virtual time's.
func why(l, v *Round, facts []live.Facts) string {
	var all []string
	if more := l.P50Ms - v.P50Ms; float64(more) > 0.2 {
		all = append(all, fmt.Sprintf("half of all took %s longer: sockets, scheduler and timers", report.FormatMs(more)))
	}
	if v.P99From.Known() && float64(v.P99To) > 1.5*float64(v.P99From) {
		all = append(all, "p99 sits at the rate of the event that it measures")
	}
	restless := 0
	worst := live.Facts{}
	for i := range facts {
		f := &facts[i]
		if !f.Quiet {
			restless++
		}
		worst.Stolen, worst.LagP99Ms = greater(worst.Stolen, f.Stolen), greater(worst.LagP99Ms, f.LagP99Ms)
		worst.HeldLateP99Ms, worst.AfterLimit = greater(worst.HeldLateP99Ms, f.HeldLateP99Ms), greater(worst.AfterLimit, f.AfterLimit)
	}
	if float64(worst.AfterLimit) > 0.001 {
		all = append(all, fmt.Sprintf("%s were answered after their limit, before its timer had rung", sharp(worst.AfterLimit)))
	}
	if restless > 0 {
		all = append(all, fmt.Sprintf("the machine was not idle before %d of %d rounds", restless, len(facts)))
	}
	if float64(worst.Stolen) > 0.01 {
		all = append(all, fmt.Sprintf("its host took away up to %s of a round", report.FormatPercent(worst.Stolen)))
	}
	if float64(worst.LagP99Ms) > 1 {
		all = append(all, fmt.Sprintf("the tester sent late (p99 %s)", report.FormatMs(worst.LagP99Ms)))
	}
	if float64(worst.HeldLateP99Ms) > 1 {
		all = append(all, fmt.Sprintf("the store held slots longer than drawn (p99 %s)", report.FormatMs(worst.HeldLateP99Ms)))
	}
	if len(all) == 0 {
		return "nothing that was recorded explains it"
	}
	return strings.Join(all, "; ")
}

func greater(a, b report.Number) report.Number {
	if b.Known() && b > a {
		return b
	}
	return a
}

// wrongIsSums has a round whose records do not fit together end as one whose sums do
// not close.
func wrongIsSums(err error) error {
	if errors.Is(err, live.ErrWrong) {
		return fmt.Errorf("%w: %w", lab.ErrSums, err)
	}
	return err
}

// liveFindings stand first: whose times these are.
func (d *Document) liveFindings() []string {
	if d.Live == nil {
		return nil
	}
	var cores, rounds, restless, checked int
	var load, stolen, lag report.Number
	least := report.None()
	cpu := map[string]report.Number{}
	for _, name := range d.ArmOrder {
		for i := range d.Live.Machine[name] {
			f := &d.Live.Machine[name][i]
			cores, rounds, checked = f.Cores, rounds+1, checked+f.Checked
			if !f.Quiet {
				restless++
			}
			load, stolen, lag = greater(load, f.Load), greater(stolen, f.Stolen), greater(lag, f.LagP99Ms)
			if !least.Known() || f.Idle < least {
				least = f.Idle
			}
			for part, busy := range f.CPU { // order does not matter: the greatest of each
				cpu[part] = greater(cpu[part], busy)
			}
		}
	}
	quiet := fmt.Sprintf("idle for 2 s before each round (at least %s)", report.FormatPercent(least))
	if restless > 0 {
		quiet = fmt.Sprintf("NOT idle before %d of %d rounds (only %s once)", restless, rounds, report.FormatPercent(least))
	}
	rates := map[float64]bool{}
	var shares []string
	for i := range d.settings {
		if r := d.settings[i].Rate; !rates[r] {
			rates[r] = true
			shares = append(shares, fmt.Sprintf("%s/s is %s of it", report.Format(report.Number(r)), report.FormatPercent(report.Number(r)/(*d.CapacityPerS))))
		}
	}
	f := []string{
		fmt.Sprintf("These times are this machine's: %d cores, load up to %s, %s, at most %s of a round stolen. Busy cores: tester %s, service %s, store %s. Sent late: p99 at most %s. All %s answers were checked.",
			cores, report.Format(load), quiet, report.FormatPercent(stolen), report.Format(cpu[live.Tester]), report.Format(cpu[live.Service]), report.Format(cpu[live.Store]), report.FormatMs(lag), report.FormatCount(int64(checked))),
		fmt.Sprintf("With a store that does not wait the service answers %s requests a second; %s.", report.Format(*d.CapacityPerS), strings.Join(shares, ", ")),
	}
	within := 0
	for i := range d.Live.Beside {
		b := &d.Live.Beside[i]
		if b.Within {
			within++
			continue
		}
		f = append(f, fmt.Sprintf("%s differs from virtual time: p99 %s (virtual %s), unanswered %s (%s). Recorded: %s.",
			b.Arm, report.FormatMs(b.P99Ms), report.FormatMs(b.P99Virtual), sharp(b.NotAnswered), sharp(b.NotAnsweredVirtual), b.Why))
	}
	return append(f, fmt.Sprintf("%d of %d arms agree with virtual time, same dice: p99 within %.0f %%, share unanswered within %.1f points.",
		within, len(d.Live.Beside), 100*nearP99, 100*nearShares))
}

var besideHead = []string{"arm", "p50", "virtual", "p99", "virtual", "differs", "unanswered", "virtual", "points", "agrees"}

func (d *Document) besideRows() [][]string {
	var rows [][]string
	for i := range d.Live.Beside {
		b := &d.Live.Beside[i]
		agrees := "yes"
		if !b.Within {
			agrees = "no"
		}
		rows = append(rows, []string{b.Arm, report.Format(b.P50Ms), report.Format(b.P50Virtual), report.Format(b.P99Ms), report.Format(b.P99Virtual),
			fmt.Sprintf("%+.1f %%", float64(100*b.P99Difference)), sharp(b.NotAnswered), sharp(b.NotAnsweredVirtual), fmt.Sprintf("%+.2f", float64(b.Points)), agrees})
	}
	return rows
}

const besideTitle = "Live beside virtual time, the same dice (medians, ms; unanswered: stand-ins or errors)"

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
