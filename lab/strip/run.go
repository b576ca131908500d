package strip

import (
	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/lab/strip/text"
	"github.com/spillway-dev/spillway/report"
)

// Document is what --json prints.
type Document struct {
	lab.Results
	Text string `json:"text"` // its source
	// Runs are the arms of the table, policy by policy, load by load, seed by seed.
	Runs []*Result `json:"runs"`
	// Arms are all of them by name, the further ones too.
	Arms     map[string]*Result `json:"arms"`
	GapTable []GapRow           `json:"gap_table"`
	Release  Release            `json:"release"`
	// SlotsForAll is how many slots would serve everything of the first load.
	SlotsForAll int `json:"slots_for_all"`
	// Live is of a live run.
	Live *Lived `json:"live,omitempty"`

	settings []Setting
}

// Release is the way back, in steps and at once: after the load's end, and after a dip
// of a second.
type Release struct {
	Steps  WayBack `json:"steps"`
	AtOnce WayBack `json:"at_once"`
}

// WayBack is one of them.
type WayBack struct {
	SecondsToFull    report.Number `json:"seconds_to_full"`
	DirectionChanges int64         `json:"direction_changes"`
	DipChanges       int64         `json:"dip_direction_changes"`
	DipOnTime        report.Number `json:"dip_on_time_share"`
	DipFlips         report.Number `json:"dip_flips_in_sentence_share"`
}

// Question is what the experiment asks.
const Question = "A keyboard's suggestion strip is asked at every keystroke, and the load is more than its personalised scorer can serve. Which keystrokes take the frequency list instead?"

// NotTested is what the experiment says nothing about.
var NotTested = report.Strings{
	"whether people who type take a suggestion: a hit is that the word stands among the three",
	"gaps that age: they are measured once, on what the same writers wrote before",
	"sentences of minutes, and writers who wait for the strip",
	"a typed-again keystroke in any share but one in a hundred",
}

// Run plays the table and the further arms. raw is the folder for raw records, empty
// for none.
func Run(o Options, raw string, meta report.Meta, progress func(done, total int, arm string)) (*Document, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	corpus, err := o.corpus()
	if err != nil {
		return nil, err
	}
	m := newMaterial(corpus)
	lived, err := o.openLive(m)
	if err != nil {
		return nil, err
	}
	arms := o.Arms()
	d := &Document{
		Live: lived, Text: m.source, Runs: []*Result{}, Arms: map[string]*Result{}, GapTable: m.rows(), SlotsForAll: o.slotsForAll(), settings: arms,
		Results: lab.Results{Lab: "strip", Mode: o.mode(), Seed: o.Seed, Question: Question, NotTested: NotTested, Meta: meta, NotYet: map[string]string{}},
	}
	plan := lab.Plan{Predictions: predictions(arms, o.backS(m))}
	for i := range arms {
		plan.Arms = append(plan.Arms, lab.PlannedArm{Name: arms[i].Name, Settings: &arms[i]})
	}
	play := d.player(&o, m)
	recorder, err := lab.Play(&d.Results, plan, raw, progress, func(i int, keep *lab.Arm) (any, error) {
		r, err := play(arms[i])
		if err != nil {
			return nil, err
		}
		r.keep(keep)
		f := r.figures()
		d.Arms[arms[i].Name] = f
		if !arms[i].Further {
			d.Runs = append(d.Runs, f)
		}
		return f, nil
	})
	if err != nil {
		return nil, err
	}
	d.Release = d.release()
	d.layBeside()
	d.Findings = d.findings()
	return d, recorder.Results(d)
}

func (o *Options) corpus() (*text.Corpus, error) {
	if o.Text == "" {
		return text.Bundled()
	}
	return text.Load(o.Text)
}

func (d *Document) release() (r Release) {
	for name, w := range map[string]*WayBack{"steps": &r.Steps, "at-once": &r.AtOnce} { // order does not matter: each by itself
		w.SecondsToFull, w.DipOnTime, w.DipFlips = report.None(), report.None(), report.None()
		if f := d.Arms["release-"+name]; f != nil {
			w.SecondsToFull, w.DirectionChanges = f.SecondsToFull, f.DirectionChanges
		}
		if f := d.Arms["dip-"+name]; f != nil {
			w.DipChanges, w.DipOnTime, w.DipFlips = f.DirectionChanges, f.OnTimeShare, f.FlipsInSentence
		}
	}
	return r
}

// keep keeps every keystroke: see lab.Arm.Typed.
func (r *run) keep(a *lab.Arm) {
	if a == nil {
		return
	}
	for i := range r.typed {
		t, x := &r.typed[i], &r.answers[i]
		a.Typed(&lab.Typed{
			Number: int64(i), Session: int64(t.session), Sentence: int64(t.serial), Word: int64(t.stroke.word), Prefix: int64(t.stroke.prefix),
			Bucket: r.gaps[i].Bucket(), Rung: rungs[x.rung], Reason: x.reason, At: t.at, Answered: x.at,
			Primary: t.stroke.primary, General: t.stroke.general, List: t.stroke.list, Again: t.again,
		})
	}
}
