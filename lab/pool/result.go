package pool

import (
	"cmp"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim"
)

// Result is one arm's figures: the traffic report's, its course in time left
// out, and what only a pool is asked.
type Result struct {
	*report.Report
	Series *struct{} `json:"series,omitempty"` // too long for a comparison; the page draws it

	// Bounds are the waiting rooms' sizes by class, as derived from the settings
	// before anything is measured.
	Bounds report.Counts `json:"bounds"`
	// InBudgetPerS counts answers that came within the budget, whatever the
	// class's deadline allows.
	InBudgetPerS report.Number `json:"in_budget_per_s"`
	// FirstTurnedAwayS is when the first request was refused or expired; null
	// if none was.
	FirstTurnedAwayS report.Number `json:"first_turned_away_s"`
	// UsefulWorkShare is the share of the workers' time spent on work whose
	// caller still waited at its end.
	UsefulWorkShare  report.Number `json:"useful_work_share"`
	PeakQueue        report.Number `json:"peak_queue"` // who arrives counts before anybody starts or leaves at the instant
	QueueWaitTotalMs report.Number `json:"queue_wait_total_ms"`
	WorkTotalMs      report.Number `json:"work_total_ms"` // of the workers, wasted or not

	Callers              int64         `json:"callers"`                // who made one attempt or more
	Attempts             int64         `json:"attempts"`               // of all of them
	CallersAnswered      report.Number `json:"callers_answered_share"` // by whichever rung
	AttemptsPerCaller    report.Number `json:"attempts_per_caller"`
	CallsPerCaller       report.Number `json:"calls_per_caller"` // to the upstream
	MostCallsOfOneCaller int64         `json:"most_calls_of_one_caller"`

	Stages []StageResult `json:"stages"`
}

// StageResult is what became of a stage of full-block.
type StageResult struct {
	Name    string        `json:"name"`
	Offered int64         `json:"offered"`
	Reasons report.Counts `json:"reasons"`
	// Utilisation is the share of its slots' time in which they worked;
	// BlockedShare that in which they were done but held up by the next stage.
	Utilisation  report.Number `json:"utilisation"`
	BlockedShare report.Number `json:"blocked_share"`
	// BlockedTotalMs is how long producers were held up before it.
	BlockedTotalMs report.Number `json:"blocked_total_ms"`
	Blocked        int64         `json:"blocked"` // producers who were
}

// who names a caller.
type who struct {
	stream int
	number int64
}

// follower takes in records and work as they happen.
type follower struct {
	s                                     Setting
	steps                                 []step
	inBudget                              int64
	turned                                unit.Instant
	waited                                int64
	busy, wasted                          int64
	calls                                 map[who]int64
	callers, attempts, answered, allCalls int64
}

func newFollower(s Setting) *follower {
	return &follower{s: s, turned: unit.Never, calls: map[who]int64{}}
}

func (f *follower) record(r *sim.Record) {
	f.attempts++
	if r.Attempt == 0 {
		f.callers++
	}
	if r.HasStarted {
		caller := who{r.Stream, r.Number}
		f.calls[caller]++
		f.allCalls++
	}
	switch {
	case r.HasStarted:
		f.waited += int64(r.Started - r.Arrived)
		f.steps = append(f.steps, step{r.Arrived, +1}, step{r.Started, -1})
	case r.Answered > r.Arrived:
		f.waited += int64(r.Answered - r.Arrived)
		f.steps = append(f.steps, step{r.Arrived, +1}, step{r.Answered, -1})
	}
	if r.Reason != reason.Served {
		if r.Rung == ladder.Static {
			f.answered++
		}
		if r.Reason.Kind() != reason.KindDone {
			f.turned = min(f.turned, r.Answered)
		}
		return
	}
	f.answered++
	if r.Answered.Sub(r.Arrived) <= ms(f.s.BudgetMs) {
		f.inBudget++
	}
}

func (f *follower) work(w *sim.Work) {
	d := int64(w.Ended - w.Begun)
	f.busy += d
	if w.Wasted {
		f.wasted += d
	}
}

func (f *follower) result(out *sim.Result) *Result {
	r := &Result{
		Report: out.Report, Bounds: report.Counts{}, Stages: []StageResult{},
		InBudgetPerS: report.PerSecond(f.inBudget, f.s.Seconds), FirstTurnedAwayS: report.None(),
		UsefulWorkShare:  report.Share(f.busy-f.wasted, f.busy),
		QueueWaitTotalMs: report.Ms(f.waited), WorkTotalMs: report.Ms(f.busy),
		Callers: f.callers, Attempts: f.attempts,
		CallersAnswered: report.Share(f.answered, f.callers), AttemptsPerCaller: report.Share(f.attempts, f.callers),
		CallsPerCaller: report.Share(f.allCalls, f.callers),
	}
	if f.turned < unit.Never {
		r.FirstTurnedAwayS = report.Number(time.Duration(f.turned).Seconds())
	}
	for _, n := range f.calls { // order does not matter: the largest
		r.MostCallsOfOneCaller = max(r.MostCallsOfOneCaller, n)
	}
	r.PeakQueue = report.Number(f.peak())
	return r
}

// step is one more who waits, or one less.
type step struct {
	at   unit.Instant
	more int64
}

// peak is the most that have waited at once; who comes counts before who goes at
// the instant.
func (f *follower) peak() (peak int64) {
	slices.SortStableFunc(f.steps, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.at, b.at), -cmp.Compare(a.more, b.more))
	})
	waiting := int64(0)
	for _, s := range f.steps {
		waiting += s.more
		peak = max(peak, waiting)
	}
	return peak
}
