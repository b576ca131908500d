package pool

import (
	"math"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/workload"
)

// Arms returns every arm, with the options' figures.
func Arms(o Options) []Setting {
	var arms []Setting
	for _, group := range [](func(Options) []Setting){
		boundArms, classArms, fullArms, deadlineArms, orderArms, producerArms, nestedArms, outwardArms, cheaperArms,
	} {
		arms = append(arms, group(o)...)
	}
	return arms
}

// NotYet are the arms that need a later capability.
func NotYet() map[string]string {
	return map[string]string{
		"full-persist": "jobs: a 202 that is on disk",
	}
}

// base is one pool with one class as spillway would configure it.
func base(o Options, name, does string) Setting {
	return Setting{
		Name: name, Does: does, Seconds: o.Seconds, BudgetMs: inMs(o.Budget), Slots: o.Slots, Service: o.Service.String(), law: o.Service,
		Classes: []Class{{Name: "tasks", Slots: o.Slots, ServiceMs: inMs(o.Service.Mean()), WhenFull: "reject", Order: "adaptive",
			DeadlineMs: inMs(o.Budget), Feasible: true}},
		Streams: []Stream{{Class: "tasks", PerS: o.Rate}},
		Stages:  []Stage{}, Layers: []int{},
	}
}

// patient is how long callers wait where only the bound is looked at.
const patientMs = 5000

func boundArms(o Options) []Setting {
	arm := func(name, does string, bound int) Setting {
		s := base(o, name, does)
		c := &s.Classes[0]
		c.Bound, c.Order, c.Feasible, c.DeadlineMs = bound, "fifo", false, max(patientMs, inMs(o.Budget))
		return s
	}
	return []Setting{
		arm("bound-none", "a queue without end, callers who wait 5 s", plan.MaxBound),
		arm("bound-last-year", "a bound tuned when work took a quarter of the time", 4*o.derived()),
		arm("bound-derived", "allowed wait x throughput", 0),
		varied(o, arm("bound-derived-varied", "the same; the time that work takes is drawn from the exponential law of the same mean", 0)),
	}
}

// varied is an arm with work that varies.
func varied(o Options, s Setting) Setting {
	law, err := workload.ExponentialService(o.Service.Mean())
	if err != nil {
		panic("BUG: lab pool: " + err.Error()) // its mean was validated
	}
	s.law, s.Service = law, law.String()
	return s
}

func classArms(o Options) []Setting {
	checkoutRate, flood := o.capacity()/2, o.capacity()*2.5
	checkout, analytics := Stream{Class: "checkout", Tenant: "checkout", PerS: checkoutRate}, Stream{Class: "analytics", Tenant: "analytics", PerS: flood}
	own := func(name, does string, streams []Stream, borrow int) Setting {
		s := base(o, name, does)
		c := s.Classes[0]
		first, second := c, c
		first.Name, first.Slots = "checkout", o.Slots*3/4
		second.Name, second.Slots, second.Borrow = "analytics", o.Slots-o.Slots*3/4, borrow
		s.Classes, s.Streams = []Class{first, second}, streams
		return s
	}
	shared := base(o, "shared", "checkout and a flood of analytics in one pool")
	for _, st := range []Stream{checkout, analytics} {
		st.Class = "tasks"
		shared.Streams = append(shared.Streams, st)
	}
	shared.Streams = shared.Streams[1:]
	return []Setting{
		own("checkout-alone", "checkout in its own pool, no flood", []Stream{checkout}, 0),
		shared,
		own("pools", "three quarters of the slots for checkout, one for analytics", []Stream{checkout, analytics}, 0),
		own("pools-borrow", "the same; analytics may borrow what is idle", []Stream{checkout, analytics}, o.Slots*3/4),
	}
}

func fullArms(o Options) []Setting {
	drop := base(o, "full-drop", "drop and count")
	drop.Classes[0].WhenFull, drop.Classes[0].Feasible = "drop", false
	fast := base(o, "full-fail-fast", "refuse at once with Retry-After; producers obey it, up to three times and 2 s")
	fast.Classes[0].Feasible = false
	fast.Streams[0].Retries, fast.Streams[0].Obedient, fast.Streams[0].WithinMs = 3, true, 2000
	block := base(o, "full-block", "hold the producer up to 50 ms, through three stages")
	block.Classes = []Class{}
	mean := inMs(o.Service.Mean())
	for _, st := range []struct {
		name         string
		slots, share float64 // of the pool's slots and service
	}{{"parse", 0.25, 0.1}, {"work", 1, 1}, {"store", 0.2, 0.16}} {
		slots := max(1, int(math.Round(float64(o.Slots)*st.slots)))
		service := mean * st.share
		block.Stages = append(block.Stages, Stage{Name: st.name, Slots: slots, ServiceMs: service, Bound: max(1, o.Slots/4), BlockMs: 50})
	}
	block.Streams[0].Class = "parse"
	return []Setting{drop, fast, block}
}

func deadlineArms(o Options) []Setting {
	naive := base(o, "deadline-ignored", "workers take from a line without end; callers leave at the budget and nobody tells the workers")
	naive.Naive = true
	start := base(o, "deadline-at-start", "a queue without end; who has expired is skipped")
	start.Classes[0].Bound, start.Classes[0].Order, start.Classes[0].Feasible = plan.MaxBound, "fifo", false
	feasible := base(o, "deadline-feasible", "a queue without end; who cannot be done in time is refused or skipped")
	feasible.Classes[0].Bound, feasible.Classes[0].Order = plan.MaxBound, "fifo"
	return []Setting{naive, start, feasible}
}

func orderArms(o Options) []Setting {
	arm := func(name, order, does string, deadlineMs float64) Setting {
		s := base(o, name, does)
		c := &s.Classes[0]
		c.Bound, c.Order, c.Feasible, c.DeadlineMs = 4*o.derived(), order, false, deadlineMs
		return s
	}
	patient := 4 * inMs(o.Budget) // longer than the age at which adaptive order turns
	return []Setting{
		arm("order-fifo", "fifo", "oldest first, in last year's room, callers who wait four budgets", patient),
		arm("order-lifo", "lifo", "the same, newest first", patient),
		arm("order-adaptive", "adaptive", "the same, oldest first until the oldest proves too old, then newest first", patient),
		arm("order-adaptive-hasty", "adaptive", "the same, with callers who leave at the budget", inMs(o.Budget)),
	}
}

func nestedArms(o Options) []Setting {
	arm := func(name, does string, budget float64) Setting {
		s := base(o, "nested-"+name, does)
		s.Outage, s.Layers = true, []int{3, 3, 3}
		s.Streams[0].PerS, s.Streams[0].Budget = nestedRate(o), budget
		s.Classes[0].Feasible = false
		return s
	}
	return []Setting{
		arm("27", "three layers that each try three times, below them an outage", 0),
		arm("budget", "the same; retries are at most 10 % of first attempts", 0.1),
	}
}

// nestedRate leaves room for 27 calls of each.
func nestedRate(o Options) float64 { return o.capacity() / 40 }

// budgeted is the most attempts a caller, where n callers have a budget of a
// tenth and the ten that it starts with; a fifth more for the luck of arrivals.
func budgeted(n float64) float64 { return 1.1 + 12/n }

// Predictions are what arithmetic says of the arms, before they are played.
// Those that hold for any options are always made; the others are about a pool
// under lasting overload of steady work.
func Predictions(o Options) []lab.Prediction {
	capacity, budget := o.capacity(), inMs(o.Budget)
	p := []lab.Prediction{
		lab.Against("pools", "classes.checkout.p99_ms", lab.Is, 1, "checkout-alone", "the flood does not touch checkout: the same p99 as without it"),
		lab.Against("pools", "classes.checkout.goodput_per_s", lab.Is, 1, "checkout-alone", "and the same goodput"),
		lab.Against("producers-budget", "attempts", lab.AtMost, budgeted(o.Rate*o.Seconds), "producers-no-retry", "with a budget, attempts grow by a tenth and no more"),
		lab.Expect("nested-27", "calls_per_caller", lab.Is, plan.Amplification(3, 3, 3), "three layers of three attempts make 27 calls, as plan says"),
	}
	if n := nestedRate(o) * o.Seconds; n >= 100 {
		p = append(p, lab.Expect("nested-budget", "calls_per_caller", lab.AtMost, budgeted(n), "with a budget of 10 %, about 1.1"))
	}
	if o.Rate < 1.5*capacity || o.Seconds < 10 || !o.steady() {
		return p // no lasting overload, or other work: what is said of one does not hold
	}
	allowed := budget - inMs(o.Service.Mean())
	p = append(p, outwardPredictions(o)...)
	p = append(p, producerPredictions(o)...)
	p = append(p, cheaperPredictions(o)...)
	return append(p,
		lab.Expect("bound-derived-varied", "queue_wait_p99_ms", lab.AtMost, 1.5*allowed, "where work varies, the wait is still about what was allowed"),
		lab.Expect("bound-derived-varied", "p99_ms", lab.AtLeast, 1.5*budget, "but the budget is not kept: it left service its mean, and no bound shortens a long call"),
		lab.Expect("bound-derived", "p99_ms", lab.AtMost, budget*1.001, "the derived bound keeps the budget"),
		lab.Expect("bound-derived", "in_budget_per_s", lab.AtLeast, 0.97*capacity, "at 97 % of capacity or more"),
		lab.Expect("bound-last-year", "in_budget_per_s", lab.AtMost, 0.1*capacity, "a room four times too large makes nearly everybody late"),
		lab.Against("bound-last-year", "first_turned_away_s", lab.AtLeast, 3, "bound-derived", "and tells so three times as late"),
		lab.Against("bound-none", "first_turned_away_s", lab.AtLeast, 10, "bound-derived", "without a bound it takes until the first caller gives up"),
		lab.Expect("shared", "tenants.checkout.goodput_per_s", lab.AtMost, 0.25*capacity, "in one pool the flood takes more than half of checkout's answers"),
		lab.Against("pools-borrow", "utilisation", lab.AtLeast, 1.1, "pools", "borrowing uses what a pool a class leaves idle"),
		lab.Expect("full-drop", "goodput_per_s", lab.AtLeast, 0.97*capacity, "dropping costs no capacity"),
		lab.Expect("full-fail-fast", "goodput_per_s", lab.AtLeast, 0.97*capacity, "nor do refusals that are asked again when they were told to"),
		lab.Expect("full-fail-fast", "refused_p50_ms", lab.AtMost, 1, "and a refusal is told at once"),
		lab.Expect("full-block", "stages.1.utilisation", lab.AtLeast, 0.97, "the stage that binds is never idle"),
		lab.Expect("full-block", "stages.0.blocked_share", lab.AtLeast, 0.5, "the stage before it is held up for more than half of its time"),
		lab.Expect("full-block", "stages.2.blocked_share", lab.AtMost, 0.01, "the stage after it is not"),
		lab.Expect("deadline-ignored", "useful_work_share", lab.AtMost, 0.1, "without deadlines nearly all work is for callers who have left"),
		lab.Expect("deadline-at-start", "useful_work_share", lab.AtMost, 0.2, "skipping the expired is not enough: who has just not expired is started, and late"),
		lab.Expect("deadline-feasible", "useful_work_share", lab.AtLeast, 0.95, "what is started must have time left to be done in"),
		lab.Expect("order-fifo", "in_budget_per_s", lab.AtMost, 0.2*capacity, "oldest first serves those who have waited too long"),
		lab.Expect("order-lifo", "in_budget_per_s", lab.AtLeast, 0.9*capacity, "newest first serves those who still have time"),
		lab.Expect("order-adaptive", "in_budget_per_s", lab.AtLeast, 0.9*capacity, "adaptive finds that out by itself"),
		lab.Expect("order-adaptive-hasty", "in_budget_per_s", lab.AtLeast, 0.9*capacity, "also where callers leave before the oldest is old"),
	)
}
