package retries

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
	if err := o.Validate(); err != nil {
		return Plan{}, err
	}
	return Plan{Arms: o.Arms(), Predictions: predictions(o), Seed: seed}, nil
}

// Document is what --json prints.
type Document struct {
	lab.Results
	Arms map[string]*Result `json:"arms"`

	settings []Setting
}

// Question is what the experiment asks.
const Question = "A server of 300 requests a second stands still for ten seconds, and its clients try again. Which loads come back by themselves?"

// NotTested is what the experiment says nothing about.
var NotTested = report.Strings{
	"several layers that each try again: their attempts multiply, see plan's amplification",
	"clients that come and go: here as many ask after the outage as before",
	"caches that are cold after an outage, and other ways in which a service is slower when it returns",
	"CoDel in front of the server: it is not part of Spillway",
}

// Run plays the plan. progress, if not nil, hears of each arm before it is played.
func Run(p Plan, progress func(done, total int, arm string)) (*Document, error) {
	d := &Document{Arms: map[string]*Result{}, settings: p.Arms, Results: lab.Results{
		Lab: "retries", Mode: "virtual", Seed: p.Seed, Question: Question, NotTested: NotTested, Meta: p.Meta, NotYet: map[string]string{},
	}}
	plan := lab.Plan{Predictions: p.Predictions}
	for _, s := range p.Arms {
		plan.Arms = append(plan.Arms, lab.PlannedArm{Name: s.Name, Settings: s})
	}
	recorder, err := lab.Play(&d.Results, plan, p.Raw, progress, func(i int, keep *lab.Arm) (any, error) {
		r, err := p.Arms[i].arm(p.Seed, keep)
		d.Arms[p.Arms[i].Name] = r
		return r, err
	})
	if err != nil {
		return nil, err
	}
	d.Findings = d.findings()
	return d, recorder.Results(d)
}

func (s Setting) arm(seed uint64, keep *lab.Arm) (*Result, error) {
	r := &Result{Policy: s.Policy, LoadPerS: report.Number(s.PerS)}
	for round := range s.Rounds {
		t, err := s.play(seed, round, keep)
		if err != nil {
			return nil, err
		}
		if round == 0 {
			r.answered = t.course()
		}
		r.Rounds = append(r.Rounds, t.round(s))
	}
	r.close()
	return r, nil
}
