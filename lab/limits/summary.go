package limits

import (
	"math"

	"github.com/spillway-dev/spillway/report"
)

// Summary is what a law made of all scenarios.
type Summary struct {
	// Steps is how many changes there were to be found, InTime how many were found in
	// the time allowed; Slowest is the longest that one took, in parts of what it was
	// allowed, unknown if one was not found at all.
	Steps   int64         `json:"steps"`
	InTime  int64         `json:"steps_in_time"`
	Slowest report.Number `json:"slowest_in_allowed"`
	// Error, Within and Wasted are means over the scenarios that have them.
	Error  report.Number `json:"error"`
	Within report.Number `json:"within_share"`
	Wasted report.Number `json:"wasted_share"`
	OverS  int64         `json:"over_s"` // the longest run of any scenario
	// Healthy are refusals while a resource at half its load has nothing wrong with it,
	// the first ten seconds left out; Cold are those.
	Healthy int64 `json:"refused_healthy"`
	Cold    int64 `json:"refused_healthy_first_10_s"`
	// Worst is the worst second's goodput when demand jumps.
	Worst report.Number `json:"surge_worst_second_goodput_share"`
	// MeanMS is how long who was served waited and was served, under lasting overload.
	MeanMS report.Number `json:"overload_mean_ms"`
}

// summaries sums the arms up.
func (d *Document) summaries() map[string]*Summary {
	all := map[string]*Summary{}
	counts := map[string]*[3]float64{}
	for _, s := range d.settings {
		r, sum := d.Arms[s.Name], all[s.Law]
		if sum == nil {
			sum = &Summary{Worst: report.None(), MeanMS: report.None()}
			all[s.Law], counts[s.Law] = sum, &[3]float64{}
		}
		sum.steps(r)
		sum.OverS = max(sum.OverS, r.OverS)
		for i, pair := range [3][2]*report.Number{{&sum.Error, &r.Error}, {&sum.Within, &r.Within}, {&sum.Wasted, &r.Wasted}} {
			if pair[1].Known() {
				*pair[0] += *pair[1]
				counts[s.Law][i]++
			}
		}
		switch s.Scenario {
		case "healthy":
			sum.Healthy, sum.Cold = r.Healthy, r.ColdStart
		case "surge":
			sum.Worst = r.Worst
		case "overload":
			sum.MeanMS = r.MeanMS
		}
	}
	for law, sum := range all { // order does not matter: each by itself
		for i, v := range [3]*report.Number{&sum.Error, &sum.Within, &sum.Wasted} {
			*v /= report.Number(counts[law][i]) // unknown where there are none
		}
	}
	return all
}

func (s *Summary) steps(r *Result) {
	for _, f := range r.Steps {
		s.Steps++
		part := float64(f.FoundS) / float64(f.AllowedS)
		if part <= 1 {
			s.InTime++
		}
		if math.IsNaN(part) || part > float64(s.Slowest) {
			s.Slowest = report.Number(part) // nothing is greater than what is unknown
		}
	}
}
