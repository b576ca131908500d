package limits

import (
	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
)

// Plan is what a run will play.
type Plan struct {
	Arms        []Setting
	Predictions []lab.Prediction
	Seed        uint64
	Raw         string // folder for raw records; empty keeps none
	Meta        report.Meta
}

// Table plans the whole table.
func Table(o Options, seed uint64) (Plan, error) {
	arms, err := o.Arms()
	if err != nil {
		return Plan{}, err
	}
	return Plan{Arms: arms, Predictions: predictions(arms), Seed: seed}, nil
}

// Document is what --json prints.
type Document struct {
	lab.Results
	Arms map[string]*Result `json:"arms"`
	// Summary is by law, over the scenarios that were played.
	Summary map[string]*Summary `json:"summary"`

	settings []Setting
}

// Question is what the experiment asks.
const Question = "A resource does not say how much it can do at once, and it changes. Which limit finds it, how soon, and what does looking for it cost?"

// NotTested is what the experiment says nothing about.
var NotTested = report.Strings{
	"several guards before one resource, each with a limit of its own",
	"a resource whose calls slow down before its line begins, as one with a shared lock",
	"calls of seconds: all times scale with the time of a call, but for nobody's patience",
	"failsafe-go's limiter, which reads the clock itself",
}

// Added is what was written when results had been seen.
var Added = report.Strings{
	"knee's constants were chosen on these scenarios, with seeds 1 to 8",
	"the predictions about the other laws, after trial runs of the first scenario with seed 1",
}

// Run plays the plan. progress, if not nil, hears of each arm before it is played.
func Run(p Plan, progress func(done, total int, arm string)) (*Document, error) {
	d := &Document{Arms: map[string]*Result{}, settings: p.Arms, Results: lab.Results{
		Lab: "limits", Mode: "virtual", Seed: p.Seed, Question: Question, NotTested: NotTested, AddedAfter: Added,
		Meta: p.Meta, NotYet: map[string]string{},
	}}
	plan := lab.Plan{Predictions: p.Predictions}
	for _, s := range p.Arms {
		plan.Arms = append(plan.Arms, lab.PlannedArm{Name: s.Name, Settings: s})
	}
	recorder, err := lab.Play(&d.Results, plan, p.Raw, progress, func(i int, keep *lab.Arm) (any, error) {
		s := p.Arms[i]
		c, err := s.play(p.Seed, keep)
		if err != nil {
			return nil, err
		}
		d.Arms[s.Name] = c.result()
		return d.Arms[s.Name], nil
	})
	if err != nil {
		return nil, err
	}
	d.Summary = d.summaries()
	d.Findings = d.findings()
	return d, recorder.Results(d)
}
