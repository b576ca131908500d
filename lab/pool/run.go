package pool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/report"
)

// Document is what --json prints: what all labs have, the plan's arithmetic,
// and every arm.
type Document struct {
	lab.Results
	Plan *plan.Plan `json:"plan"`
	// Worked are small sums to check the plan's formulas by hand.
	Worked []plan.Figure      `json:"worked"`
	Arms   map[string]*Result `json:"arms"`

	settings []Setting
	played   map[string]*played
	options  Options
}

// Question is what the experiment asks.
const Question = "A worker pool is offered more than it can do. How long a queue, whose, in which order, and what becomes of those who find no place?"

// NotTested is what the experiment says nothing about.
var NotTested = report.Strings{
	"the CPU that a refusal costs at each place where it can be made (bench/ measures the gate's own)",
	"memory under a queue without end: the simulator keeps no bodies",
	"work that notices that its caller has left",
	"several pools that compete for the same processors",
}

// AddedAfter is what was added or changed when results had been seen.
var AddedAfter = report.Strings{
	"bound-derived-varied and its predictions: with --service exp:100ms the derived bound had not kept the budget; " +
		"at first a wait of at most 1.3 times what is allowed was predicted, and 1.31 measured, since the bound follows a measured mean that wanders (up to 118 places for 80)",
	"order-*: callers at first left at the budget, and adaptive order, which turns at twice the allowed wait, then never turned; " +
		"that arm stays as order-adaptive-hasty, the others have callers who wait",
	"order-adaptive-hasty: who can no longer be answered in time is served all the same there, so the order now turns also when the oldest has half a call's time left; the prediction was made after that",
	"full-block: its rooms were at first so small that producers were refused instead of held",
	"producers-breaker: at most 0.9 times the goodput of producers-library was predicted first, and 0.914 measured: what waits keeps the workers busy for a fifth of the second for which the breaker is open; " +
		"the prediction is now 0.98 (five seeds: 0.91 to 0.97)",
	"full-fail-fast: producers give up after 2 s, or those who come back when the load is over hide the overload",
}

// Run plays the arms. progress, if not nil, hears of each arm before it is
// played; raw is the folder for records, empty keeps none.
func Run(o Options, raw string, meta report.Meta, progress func(done, total int, arm string)) (*Document, error) {
	arms, later, err := choose(o)
	if err != nil {
		return nil, err
	}
	d := &Document{
		Arms: map[string]*Result{}, settings: arms, played: map[string]*played{}, options: o, Plan: planOf(o), Worked: worked(),
		Results: lab.Results{Lab: "pool", Mode: "virtual", Seed: o.Seed, Question: Question, NotYet: later,
			NotTested: NotTested, AddedAfter: AddedAfter, Meta: meta},
	}
	var written lab.Plan
	var names []string
	for _, s := range arms {
		written.Arms = append(written.Arms, lab.PlannedArm{Name: s.Name, Settings: s})
		names = append(names, s.Name)
	}
	for _, p := range Predictions(o) {
		if slices.Contains(names, p.Arm) && (p.Than == "" || slices.Contains(names, p.Than)) {
			written.Predictions = append(written.Predictions, p)
		}
	}
	recorder, err := lab.Play(&d.Results, written, raw, progress, func(i int, keep *lab.Arm) (any, error) {
		one, err := arms[i].play(d.Seed, d.Meta, keep)
		if err != nil {
			return nil, err
		}
		d.played[arms[i].Name], d.Arms[arms[i].Name] = one, one.Result
		return one.Result, nil
	})
	if err != nil {
		return nil, err
	}
	d.Findings = d.findings()
	return d, recorder.Results(d)
}

// choose returns the arms asked for, and those asked for that are not there
// yet.
func choose(o Options) (arms []Setting, later map[string]string, err error) {
	if err := o.Validate(); err != nil {
		return nil, nil, err
	}
	all, later := Arms(o), NotYet()
	if len(o.Arms) == 0 {
		return all, later, nil
	}
	asked := map[string]string{}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	for _, name := range o.Arms {
		i := slices.Index(names, name)
		switch why, isLater := later[name]; {
		case i >= 0:
			arms = append(arms, all[i])
		case isLater:
			asked[name] = why
		default:
			return nil, nil, fmt.Errorf("arm %q: the arms are %s", name, strings.Join(names, ", "))
		}
	}
	slices.SortStableFunc(arms, func(a, b Setting) int { return slices.Index(names, a.Name) - slices.Index(names, b.Name) })
	arms = slices.CompactFunc(arms, func(a, b Setting) bool { return a.Name == b.Name })
	if len(arms) == 0 {
		return nil, nil, fmt.Errorf("none of the arms asked for is there yet: %s", strings.Join(o.Arms, ", "))
	}
	return arms, asked, nil
}

// planOf is what plan says of the pool before anything is played.
func planOf(o Options) *plan.Plan {
	mean := o.Service.Mean()
	p := plan.Make(plan.Input{
		Upstreams: []plan.Upstream{{Name: "pool", Slots: int64(o.Slots), Service: plan.Constant(mean)}},
		Classes: []plan.Class{{
			Name: "tasks", Upstream: "pool", Slots: plan.Fixed(int64(o.Slots)),
			Budget: plan.Budget{Latency: o.Budget, Service: mean}, Memory: plan.Memory{Limit: 64 << 20, PerRequest: 64 << 10},
			WhenFull: "reject", Deadline: o.Budget, MaxDeadline: 5 * time.Minute,
			Expect: plan.Expect{Rate: o.Rate, CallersAttempts: []int{3, 3, 3}},
		}},
	})
	return &p
}

// Check returns what is wrong with the options, their arms included, or nil.
func (o *Options) Check() error {
	_, _, err := choose(*o)
	return err
}

// worked are the sums that can be done in the head.
func worked() []plan.Figure {
	figure := func(name string, v float64, unit, formula, assumption string) plan.Figure {
		return plan.Figure{Name: name, Value: plan.Number(v), Unit: unit, Formula: formula, Assumption: assumption}
	}
	call := 2 * time.Second
	return []plan.Figure{
		figure("10/s against 6/s: backlog growth", plan.BacklogGrowth(10, 6), "/s", "rate - throughput", "sustained arrivals"),
		figure("10/s against 6/s: a room of 12 fills in", plan.FillTime(12, 10, 6), "s", "bound / growth", "sustained arrivals; a burst that ends can drain"),
		figure("4/s that stay 1.5 s: in the system", plan.InSystem(4, 1500*time.Millisecond), "jobs", "rate x stay", "stable regime; says nothing of tails or fairness"),
		figure("12 slots of two-second calls", plan.Throughput(12, call), "/s", "slots / holding", "no slot is idle; a quota of six requests/s binds no sooner"),
		figure("10,000 tokens/s at 2,000 a job", 10_000.0/2_000, "jobs/s", "tokens per second / tokens a job", "variable lengths and burst windows give less; requests, tokens, slots and deadline are checked each, the minimum binds"),
		figure("a tenant with a quarter of 6/s", plan.Share(6, 1, 4), "/s", "throughput x weight / weights", "all tenants are backlogged"),
		figure("that tenant's queue of six", plan.DrainTime(6, plan.Share(6, 1, 4)), "s", "queue / share", "an estimate, not a bound, with long non-preemptive calls"),
		figure("three layers of three attempts", plan.Amplification(3, 3, 3), "calls", "product of attempts", "every attempt fails at the bottom"),
	}
}
