package text

import (
	"strings"

	"github.com/spillway-dev/spillway/report"
)

// repeatedCalls says how many calls a request took, of classes that made more of them
// than requests were let in, that is in which retries or hedges were sent; "" where
// there is none.
func repeatedCalls(r *report.Report) string {
	var all []string
	for _, name := range r.ClassNames() {
		g := r.Classes[name]
		letIn := g.Offered - g.RefusedIn(report.BandCaller) - g.RefusedIn(report.BandOurs)
		calls, unsure := float64(g.CallsPerRequest)*float64(g.Offered), callsRounding*float64(g.Offered)
		if calls > float64(letIn)+max(unsure, 0.5) {
			all = append(all, name+" "+report.Format(g.CallsPerRequest))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "Calls for each request, retries and hedges included: " + strings.Join(all, ", ") + "."
}

// callsRounding is what a report's share may be off by: it has six decimals.
const callsRounding = 1e-6
