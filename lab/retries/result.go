package retries

import (
	"math"
	"slices"

	"github.com/spillway-dev/spillway/report"
)

// Result is one arm's figures.
type Result struct {
	Policy   string        `json:"policy"`
	LoadPerS report.Number `json:"load_per_s"`
	Rounds   []*Round      `json:"rounds"`
	Median   Round         `json:"median"`
	// Recovered is how many rounds recovered at all.
	Recovered int `json:"recovered"`

	answered []report.Number // of the first round, by second: for the picture
}

// median returns the middle of the figures, the upper one of two; what is not known
// is more than anything.
func median(rounds []*Round, figure func(*Round) report.Number) report.Number {
	values := make([]float64, len(rounds))
	for i, r := range rounds {
		values[i] = math.Inf(1)
		if v := figure(r); v.Known() {
			values[i] = float64(v)
		}
	}
	slices.Sort(values)
	if v := values[len(values)/2]; !math.IsInf(v, 1) {
		return report.Number(v)
	}
	return report.None()
}

func (r *Result) close() {
	count := func(figure func(*Round) int64) int64 {
		return int64(median(r.Rounds, func(r *Round) report.Number { return report.Number(figure(r)) }))
	}
	r.Median = Round{
		Callers:           count(func(r *Round) int64 { return r.Callers }),
		Answered:          count(func(r *Round) int64 { return r.Answered }),
		Attempts:          count(func(r *Round) int64 { return r.Attempts }),
		CallsPerRequest:   median(r.Rounds, func(r *Round) report.Number { return r.CallsPerRequest }),
		AnsweredAfterPerS: median(r.Rounds, func(r *Round) report.Number { return r.AnsweredAfterPerS }),
		OfferedAfterPerS:  median(r.Rounds, func(r *Round) report.Number { return r.OfferedAfterPerS }),
		RecoveredS:        median(r.Rounds, func(r *Round) report.Number { return r.RecoveredS }),
		WorstShare:        median(r.Rounds, func(r *Round) report.Number { return r.WorstShare }),
	}
	for _, one := range r.Rounds {
		if one.RecoveredS.Known() {
			r.Recovered++
		}
	}
}
