package fair

import (
	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
)

// Plan is what a run will play.
type Plan struct {
	Arms        []Setting
	Predictions []lab.Prediction
	// Flat names the arm whose figures stand at the top of the document.
	Flat string
	Seed uint64
	// AddedAfter is said on the page.
	AddedAfter []string
	Raw        string // folder for raw records; empty keeps none
	Meta       report.Meta
}

// WholeTable plans the table, and with more what is beyond it.
func WholeTable(seed uint64, more bool) Plan {
	p := Plan{Arms: Table(), Predictions: TablePredictions(), Flat: "wrr", Seed: seed}
	if more {
		p.Arms = append(p.Arms, More()...)
		p.Predictions = append(p.Predictions, MorePredictions()...)
		p.AddedAfter = AddedAfter
	}
	return p
}

// One plans a single arm; what is known of it beforehand is predicted.
func One(o Options, seed uint64) (Plan, error) {
	if err := o.Validate(); err != nil {
		return Plan{}, err
	}
	arm := o.Arm()
	p := Plan{Arms: []Setting{arm}, Flat: arm.Name, Seed: seed}
	for _, one := range TablePredictions() {
		if one.Arm == arm.Name {
			p.Predictions = append(p.Predictions, one)
		}
	}
	return p, nil
}

// Document is what --json prints: what all labs have, the figures of one arm,
// and those of all.
type Document struct {
	lab.Results
	Arm string `json:"arm"`
	*Result
	Arms map[string]*Result `json:"arms"`

	settings []Setting
}

// Question is what the experiment asks.
const Question = "One tenant offers five times what the others do, at one instant, to a queue with a deadline. Who is served?"

// NotTested is what the experiment says nothing about.
var NotTested = report.Strings{
	"cancellation at the provider: a job that has started runs to its end",
	"a distributed scheduler: there is one queue with one clock",
	"mixed classes: work of different cost and deadline needs an analysis of its own",
	"a real provider's limits per second and token (--ledger: not yet)",
	"recognition of keys by a ledger: a register in the lab stands in for it",
}

// Run plays the plan. progress, if not nil, hears of each arm before it is
// played.
func Run(p Plan, progress func(done, total int, arm string)) (*Document, error) {
	d := &Document{Arms: map[string]*Result{}, settings: p.Arms, Results: lab.Results{
		Lab: "fair", Mode: "virtual", Seed: p.Seed, Question: Question, NotTested: NotTested, AddedAfter: p.AddedAfter, Meta: p.Meta,
		NotYet: map[string]string{"ledger": "--ledger needs the ledger"},
	}}
	plan := lab.Plan{Predictions: p.Predictions}
	for _, s := range p.Arms {
		plan.Arms = append(plan.Arms, lab.PlannedArm{Name: s.Name, Settings: s})
	}
	recorder, err := lab.Play(&d.Results, plan, p.Raw, progress, func(i int, keep *lab.Arm) (any, error) {
		r, err := p.Arms[i].play(p.Seed, keep)
		d.Arms[p.Arms[i].Name] = r
		return r, err
	})
	if err != nil {
		return nil, err
	}
	d.Arm, d.Result = p.Flat, d.Arms[p.Flat]
	d.Findings = d.findings()
	return d, recorder.Results(d)
}
