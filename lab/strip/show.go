package strip

import (
	"fmt"
	"strings"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
)

// findings says in words what was seen.
func (d *Document) findings() report.Strings {
	f := d.liveFindings()
	say := func(format string, a ...any) { f = append(f, fmt.Sprintf(format, a...)) }
	for _, load := range d.loads() {
		if g := d.mean("gap", load); g != nil {
			say("%vx: gap serves %s keystrokes a second in full, of %s that fit, sheds %s %% (ideal %s %%), has %s %% in time and hits %s of %s.",
				load, whole(g.personal), whole(d.capacity()), percent(g.shed), percent(g.ideal), percent(g.onTime), digits(g.hit), digits(g.all))
		}
	}
	if line := d.loses(); line != "" {
		say("%s", line)
	}
	if steps := d.Arms["release-steps"]; d.Live != nil && steps != nil {
		say("After the load's end everything is personalised again within %s s, %s s in virtual time; changes of direction %d and %d.",
			report.Format(steps.SecondsToFull), report.Format(d.Arms["release-steps-virtual"].SecondsToFull), steps.DirectionChanges, d.Arms["release-steps-virtual"].DirectionChanges)
	} else if r := d.Release; steps != nil {
		say("After the load's end everything is personalised again within %s s in steps, %s s at once; changes of direction %d and %d, through a dip of a second %d and %d.",
			report.Format(r.Steps.SecondsToFull), report.Format(r.AtOnce.SecondsToFull), r.Steps.DirectionChanges, r.AtOnce.DirectionChanges, r.Steps.DipChanges, r.AtOnce.DipChanges)
	}
	say("%d slots would serve all of the first load.", d.SlotsForAll)
	return append(f, d.Score())
}

// loses compares with everybody personalised, at the first load.
func (d *Document) loses() string {
	load := d.loads()
	if len(load) == 0 {
		return ""
	}
	gap, random := d.mean("gap", load[0]), d.mean("random", load[0])
	if gap == nil || random == nil || random.all <= random.hit {
		return ""
	}
	return fmt.Sprintf("At %vx gap loses %s of what everybody personalised hits, random %s: %.2f of it.", load[0],
		digits(gap.all-gap.hit), digits(random.all-random.hit), (gap.all-gap.hit)/(random.all-random.hit))
}

func (d *Document) capacity() float64 { return d.settings[0].capacity() }

// loads are those of the table, in order.
func (d *Document) loads() (loads []float64) {
	for i := range d.settings {
		s := &d.settings[i]
		if s.Policy != d.settings[0].Policy {
			break
		}
		if s.Further {
			continue
		}
		if len(loads) == 0 || loads[len(loads)-1] != s.Load {
			loads = append(loads, s.Load)
		}
	}
	return loads
}

// means are the figures of a policy at a load, over the seeds.
type means struct {
	n                                  float64
	personal, shed, ideal, onTime, p99 float64
	hit, all, list, flipsInWord, flips float64
}

// mean returns them, or nil if it was not played.
func (d *Document) mean(policy string, load float64) *means {
	var m means
	for _, r := range d.Runs {
		if r.Policy != policy || float64(r.Load) != load {
			continue
		}
		m.n++
		m.personal += float64(r.PersonalisedPerS)
		m.shed, m.ideal, m.onTime = m.shed+float64(r.ShedShare), m.ideal+float64(r.IdealShare), m.onTime+float64(r.OnTimeShare)
		m.hit, m.all, m.list = m.hit+float64(r.Hit), m.all+float64(r.HitAllPrimary), m.list+float64(r.HitAllList)
		m.flipsInWord, m.flips = m.flipsInWord+float64(r.FlipsInWord), m.flips+float64(r.FlipsInSentence)
		m.p99 = max(m.p99, float64(r.P99Ms))
	}
	if m.n == 0 {
		return nil
	}
	for _, p := range []*float64{&m.personal, &m.shed, &m.ideal, &m.onTime, &m.hit, &m.all, &m.list, &m.flipsInWord, &m.flips} {
		*p /= m.n
	}
	return &m
}

func whole(x float64) string   { return fmt.Sprintf("%.0f", x) }
func percent(x float64) string { return fmt.Sprintf("%.1f", 100*x) }
func digits(x float64) string  { return fmt.Sprintf("%.4f", x) }

// Head is the head of the table of policies.
var Head = []string{"policy", "load", "in full/s", "shed %", "ideal %", "in time %", "p99 ms", "hit@3", "all personal", "flips in words", "sentences %"}

// Legend says what the columns hold.
const Legend = "in full: answered by the scorer or with what it answered the session before; hit@3 over all keystrokes, one too late is a miss; all personal: if there were slots for all; " +
	"flips: changes of the rung in a word but its one step down, and sentences in which one gap bucket was answered now so and now so. Means of the seeds, of p99 the most."

// Rows is the table of policies.
func (d *Document) Rows() (rows [][]string) {
	seen := map[string]bool{}
	for _, r := range d.Runs {
		load := float64(r.Load)
		key := fmt.Sprint(r.Policy, load)
		if seen[key] {
			continue
		}
		seen[key] = true
		m := d.mean(r.Policy, load)
		rows = append(rows, []string{r.Policy, report.Format(r.Load), whole(m.personal), percent(m.shed), percent(m.ideal), percent(m.onTime),
			fmt.Sprintf("%.1f", m.p99), digits(m.hit), digits(m.all), whole(m.flipsInWord), fmt.Sprintf("%.3f", 100*m.flips)})
	}
	return rows
}

// FurtherHead is the head of the table of further arms.
var FurtherHead = []string{"arm", "in full/s", "shed for load %", "failed %", "late %", "in time %", "hit@3", "second model/s", "list/s"}

// FurtherRows is the table of further arms.
func (d *Document) FurtherRows() (rows [][]string) {
	for i := range d.settings {
		s := &d.settings[i]
		r := d.Arms[s.Name]
		if !s.Further || s.Twin != "" || r == nil {
			continue
		}
		perS := func(rung string) string { return whole(float64(r.Answered[rung]) / (s.ToS - s.FromS)) }
		rows = append(rows, []string{s.Name, whole(float64(r.PersonalisedPerS)), percent(float64(r.ShedForLoad)), percent(float64(r.Failed)), percent(float64(r.Late)),
			percent(float64(r.OnTimeShare)), digits(float64(r.Hit)), perS(secondModel), perS(frequencyList)})
	}
	return rows
}

// GapHead is the head of the gap table.
var GapHead = []string{"letters", "context", "personalised", "list", "gap", "used", "keystrokes"}

// GapRows is the gap table.
func (d *Document) GapRows() (rows [][]string) {
	for _, r := range d.GapTable {
		rows = append(rows, []string{fmt.Sprint(r.PrefixLength), r.Context, report.Format(r.PrimaryHit), report.Format(r.ListHit), report.Format(r.Gap), report.Format(r.Used), fmt.Sprint(r.N)})
	}
	return rows
}

// Page is the document for a browser.
func (d *Document) Page() *html.Page {
	first := &d.settings[0]
	arms := html.Prose{Heading: "Arms", Paragraphs: []string{fmt.Sprintf(
		"The scorer has %d slots and takes %v ms for a keystroke: %s a second. The load is half of that for %v s, then what the arm says; what is typed from second %v to %v is judged. A strip is of use for %v ms. Text: %s.",
		first.Slots, first.ServiceMs, whole(first.capacity()), first.UpS, first.FromS, first.ToS, first.DeadlineMs, d.Text)}}
	for _, p := range policies {
		arms.Items = append(arms.Items, p.Policy+": "+p.Does)
	}
	for i := range d.settings {
		if s := &d.settings[i]; s.Further && s.Twin == "" {
			arms.Items = append(arms.Items, s.Name+": "+s.Does)
		}
	}
	return lab.Page(&d.Results, "Lab strip: which keystrokes take the list", arms, append(d.liveSections(), d.sections()...)...)
}

func (d *Document) sections() []html.Section {
	return []html.Section{
		html.Table{Heading: "Policies and loads", Head: Head, Rows: d.Rows(), Left: []int{1}, Caption: Legend},
		html.Table{Heading: "Further arms", Head: FurtherHead, Rows: d.FurtherRows(), Left: []int{1}, Caption: "Shares of what was offered, by the reason of the answer."},
		d.course("After the load's end", "release-steps", "release-at-once", "release-steps-virtual"), d.course("Through a dip of a second", "dip-steps", "dip-at-once"), d.slots(),
		html.Table{Heading: "The measured gap", Head: GapHead, Rows: d.GapRows(), Left: []int{2}, Caption: "hit@3 of both answers on the part of the text that is neither learned from nor typed. Used: with what the length alone says, where keystrokes are few."},
	}
}

// course shows the share that is shed, by seconds.
func (d *Document) course(heading string, arms ...string) html.Section {
	l := html.Lines{Heading: heading, X: html.Axis{Name: "time", Unit: "s"}, Y: html.Axis{Name: "share shed"}, Half: true}
	for _, name := range arms {
		r := d.Arms[name]
		if r == nil {
			continue
		}
		if len(l.At) == 0 {
			for i := range r.shares {
				l.At = append(l.At, d.settings[0].UpS+float64(i)*grain)
			}
		}
		l.Lines = append(l.Lines, html.Line{Name: strings.NewReplacer("release-", "", "dip-", "").Replace(name), Y: r.shares})
	}
	if len(l.Lines) == 0 {
		return html.Prose{Heading: heading, Paragraphs: []string{"These arms were not played."}}
	}
	return l
}

// slots shows what more slots would be worth.
func (d *Document) slots() html.Section {
	b := html.Bars{Heading: "hit@3 against slots", X: html.Axis{Name: "hit@3"}, Caption: fmt.Sprintf("The same load; %d slots would serve all of it.", d.SlotsForAll)}
	for i := range d.settings {
		if s := &d.settings[i]; strings.HasPrefix(s.Name, "slots-") && d.Arms[s.Name] != nil {
			b.Bars = append(b.Bars, html.Bar{Name: fmt.Sprint(s.Slots, " slots"), Value: d.Arms[s.Name].Hit, Low: report.None(), High: report.None()})
		}
	}
	if len(b.Bars) == 0 {
		return html.Prose{Heading: b.Heading, Paragraphs: []string{"These arms were not played."}}
	}
	return b
}
