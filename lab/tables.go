package lab

import (
	"strings"

	"github.com/spillway-dev/spillway/report/text"
)

// Later is the table of arms that need a later capability.
func Later(r *Results) text.Table {
	t := text.Table{Title: "Not yet", Head: []string{"arm", "needs"}, Left: []int{1}}
	for _, name := range sortedNames(r.NotYet) {
		t.Rows = append(t.Rows, []string{name, r.NotYet[name]})
	}
	return t
}

// Notes say what a reader must know before believing: which predictions did
// not hold, what was not tested, what was added when results had been seen.
func Notes(r *Results) []string {
	var notes []string
	for i := range r.Verdicts {
		if r.Verdicts[i].Verdict != Held {
			notes = append(notes, "Did not hold: "+r.Verdicts[i].line()+".")
		}
	}
	notes = append(notes, "Not tested: "+strings.Join(r.NotTested, "; ")+".")
	if len(r.AddedAfter) > 0 {
		notes = append(notes, "Added after the results were seen: "+strings.Join(r.AddedAfter, "; ")+".")
	}
	return notes
}
