package fallback

import (
	"cmp"
	"slices"

	"github.com/spillway-dev/spillway/report"
)

// Defence is an arm at 450/s as an answer to the question which is best.
type Defence struct {
	Arm string `json:"arm"`
	// NotAnswered is the share of all rounds' requests that got a stand-in or an
	// error.
	NotAnswered report.Number `json:"not_answered_share"`
	Calls       report.Number `json:"calls_per_request"` // over all rounds
	P99Ms       report.Number `json:"p99_ms"`            // median
	Tipped      int           `json:"tipped"`
	Eligible    bool          `json:"eligible"` // no round tipped, at most 10 % more calls
}

// callsMost is how many calls a defence may make of one.
const callsMost = 1.1

// ranking orders the arms of one store with freezes at 450/s: those that are
// eligible first, by what they leave unanswered, then by p99.
func (d *Document) ranking() []Defence {
	all := []Defence{}
	for i := range d.settings {
		s := &d.settings[i]
		if s.Rate != 450 || s.Waits != "H" || s.Copies > 1 || s.BusyEveryS > 0 || s.SlowCustomer > 0 {
			continue
		}
		r := d.Arms[s.Name]
		v := Defence{Arm: s.Name, P99Ms: r.Median.P99Ms, Tipped: max(r.Tipping.Tipped, tippingOf(r.Rounds).Tipped)}
		requests, missed, calls := 0.0, 0.0, 0.0
		for _, one := range r.Rounds {
			n := float64(one.Requests)
			requests += n
			missed += n * float64(one.StandIns+one.Errors)
			calls += n * float64(one.CallsPerRequest)
		}
		v.NotAnswered, v.Calls = report.Number(missed/requests), report.Number(calls/requests)
		v.Eligible = v.Tipped == 0 && float64(v.Calls) <= callsMost
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(a, b Defence) int {
		if a.Eligible != b.Eligible {
			if a.Eligible {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.NotAnswered, b.NotAnswered), cmp.Compare(a.P99Ms, b.P99Ms))
	})
	return all
}
