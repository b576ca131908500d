package lab

import (
	"strings"

	"github.com/spillway-dev/spillway/report/text"
)

// Tables are what a terminal shows after a lab's own tables: the predictions
// that did not hold, what is not there yet, what was added and what was not
// tested.
func Tables(r *Results) []text.Table {
	var tables []text.Table
	wrong := text.Table{Title: "Predictions that did not hold", Head: []string{"arm", "expected", "measured", "prediction"}, Left: []int{3}}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Verdict != Held {
			wrong.Rows = append(wrong.Rows, []string{v.Arm, v.expected(), formatAll(v.Measured), v.Says})
		}
	}
	if len(wrong.Rows) > 0 {
		tables = append(tables, wrong)
	}
	list := func(title, first, second string, rows [][]string) {
		if len(rows) > 0 {
			tables = append(tables, text.Table{Title: title, Head: []string{first, second}, Left: []int{1}, Rows: rows})
		}
	}
	var later [][]string
	for _, name := range sortedNames(r.NotYet) {
		later = append(later, []string{name, r.NotYet[name]})
	}
	list("Not yet", "arm", "needs", later)
	return tables
}

// Notes say what a reader must know before believing: what was not tested and
// what was added when results had been seen.
func Notes(r *Results) []string {
	notes := []string{"Not tested: " + strings.Join(r.NotTested, "; ") + "."}
	if len(r.AddedAfter) > 0 {
		notes = append(notes, "Added after the results were seen: "+strings.Join(r.AddedAfter, "; ")+".")
	}
	return notes
}
