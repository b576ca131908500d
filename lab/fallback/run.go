package fallback

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
)

// Run plays the arms. progress, if not nil, hears of each before it is played; raw
// is the folder for records, empty keeps none.
func Run(o Options, raw string, meta report.Meta, progress func(done, total int, arm string)) (*Document, error) {
	arms, err := choose(&o)
	if err != nil {
		return nil, err
	}
	d := &Document{
		Arms: map[string]*Result{}, Tipping: map[string]Tipping{}, Timeline: map[string][]Second{}, options: o, settings: arms,
		Comparisons: []Comparison{}, Plan: planned(),
		Results: lab.Results{Lab: "fallback", Mode: o.mode(), Seed: o.Seed, Question: Question, NotYet: map[string]string{},
			NotTested: NotTested, AddedAfter: AddedAfter, Meta: meta},
	}
	written := lab.Plan{Lab: "fallback", Seed: o.Seed, Version: meta.Version, Command: meta.Command, Predictions: []lab.Prediction{}}
	for _, s := range arms {
		written.Arms = append(written.Arms, lab.PlannedArm{Name: s.Name, Settings: s})
		d.ArmOrder = append(d.ArmOrder, s.Name)
	}
	for _, p := range Predictions(&o) {
		if slices.Contains(d.ArmOrder, p.Arm) && (p.Than == "" || slices.Contains(d.ArmOrder, p.Than)) {
			written.Predictions = append(written.Predictions, p)
		}
	}
	if d.recorder, err = lab.Open(raw, written); err != nil {
		return nil, err
	}
	figures := map[string]lab.Figures{}
	if err := d.prepare(o.AP, progress); err != nil {
		return nil, err
	}
	d.NotTested = d.notTested(d.NotTested)
	if err := d.openLive(); err != nil {
		return nil, err
	}
	for i := range arms {
		if progress != nil {
			progress(i, len(arms), arms[i].Name)
		}
		if err := d.play(&arms[i]); err != nil {
			return nil, fmt.Errorf("arm %s: %w", arms[i].Name, err)
		}
		if figures[arms[i].Name], err = lab.FiguresOf(d.Arms[arms[i].Name]); err != nil {
			return nil, err
		}
	}
	if err := d.conclude(); err != nil {
		return nil, err
	}
	if err := d.price(progress); err != nil {
		return nil, err
	}
	if err := d.layBeside(); err != nil {
		return nil, err
	}
	d.Verdicts = lab.Judge(written.Predictions, figures)
	d.Findings = d.findings()
	d.PlanSHA256, d.Records = d.recorder.PlanSHA256(), d.recorder.Kept()
	return d, d.recorder.Results(d)
}

// play plays an arm's rounds, and those that only count whether they tip.
func (d *Document) play(s *Setting) error {
	file, err := d.recorder.Arm(s.Name)
	if err != nil {
		return err
	}
	k := figuresOnly
	if file != nil {
		k = everything
	}
	r := &Result{Does: s.Does, Warnings: report.Strings{}, Reasons: report.Counts{}}
	write := func(round int, kept *record) {
		s.write(file, round, kept)
		d.take(s, kept.n, kept.missed)
		for why, n := range kept.reasons { // order does not matter: sums
			r.Reasons[why] += n
		}
	}
	if r.Rounds, err = d.playRounds(s, k, write); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	r.Median = medianOf(r.Rounds)
	r.Tipping = tippingOf(r.Rounds)
	if d.options.Tipping && tips(s) && d.options.Rounds < TippingRounds {
		if r.Tipping, err = d.tip(s); err != nil {
			return err
		}
	}
	r.Warnings = append(r.Warnings, s.warnings(r)...)
	d.Arms[s.Name] = r
	if tips(s) {
		d.Tipping[s.Name] = r.Tipping
	}
	return nil
}

// tips reports whether it is asked of an arm whether it tips.
func tips(s *Setting) bool { return s.Rate >= 450 || s.Name == OwnName }

// tip counts in how many of many rounds the arm tips. Of those only the end is
// kept.
func (d *Document) tip(s *Setting) (Tipping, error) {
	file, err := d.recorder.Arm(s.Name + "-tipping")
	if err != nil {
		return Tipping{}, err
	}
	k := figuresOnly
	if file != nil {
		k = theEnd
	}
	rounds, err := s.playRounds(d.Seed, 0, TippingRounds, k, func(round int, kept *record) { s.write(file, round, kept) })
	if err != nil {
		return Tipping{}, err
	}
	return tippingOf(rounds), file.Close()
}

// record writes what is kept of one round into a file of its own.
func (d *Document) record(name string, s *Setting, round int, kept *record) error {
	file, err := d.recorder.Arm(name)
	if err != nil {
		return err
	}
	s.write(file, round, kept)
	return file.Close()
}

// conclude makes of the arms what takes several of them.
func (d *Document) conclude() error {
	for _, c := range comparisons() {
		if a, b := d.Arms[c.A], d.Arms[c.B]; a != nil && b != nil {
			c.judge(a, b)
			d.Comparisons = append(d.Comparisons, c)
		}
	}
	d.Ranking = d.ranking()
	if d.Live == nil {
		if err := d.playTimeline(); err != nil {
			return fmt.Errorf("timeline: %w", err)
		}
	}
	if err := d.follow(); err != nil {
		return fmt.Errorf("following a frozen lookup: %w", err)
	}
	return nil
}

// warnings says which of an arm's figures are not to be relied on.
func (s *Setting) warnings(r *Result) []string {
	var w []string
	m := &r.Median
	if m.P99From.Known() && float64(m.P99To) > 1.5*float64(m.P99From) {
		w = append(w, fmt.Sprintf("p99 sits at the rate of the event that it measures (%s of lookups freeze): it is anywhere from %s to %s by luck; read p99.5",
			sharp(report.Number(float64(m.Freezes)/float64(m.Requests))), report.FormatMs(m.P99From), report.FormatMs(m.P99To)))
	}
	return w
}

// OwnName is the name of an arm of one's own.
const OwnName = "own"

// choose returns the arms asked for.
func choose(o *Options) ([]Setting, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Own != nil {
		own := *o.Own
		own.Name, own.Seconds = OwnName, o.Seconds
		return []Setting{own}, o.Live.refuses(&own)
	}
	all := Arms(o)
	if o.Live != nil && o.Live.Quick {
		all = quickArms(o)
	}
	if len(o.Arms) == 0 {
		return o.Live.defaults(all), nil
	}
	names := make([]string, 0, len(all))
	for i := range all {
		names = append(names, all[i].Name)
	}
	for _, name := range o.Arms {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("arm %q: the arms are %s", name, strings.Join(names, ", "))
		}
	}
	chosen := slices.DeleteFunc(all, func(s Setting) bool { return !slices.Contains(o.Arms, s.Name) })
	for i := range chosen {
		if err := o.Live.refuses(&chosen[i]); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// Check returns what is wrong with the options, their arms included, or nil.
func (o *Options) Check() error {
	_, err := choose(o)
	return err
}
