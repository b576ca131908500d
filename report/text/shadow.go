package text

import "github.com/spillway-dev/spillway/report"

// shadowTable holds what was beside what would have been, for the classes whose
// decisions were not all carried out.
func shadowTable(r *report.Report) Table {
	t := Table{Head: []string{"in shadow", "reason", "happened", "would be", "meaning"}, Left: []int{1, 4}}
	class := ""
	for _, row := range r.ShadowRows() {
		shown := ""
		if row.Class != class {
			class, shown = row.Class, row.Class
		}
		meaning := ""
		if row.Reason != "offered" && row.Reason[0] != '(' {
			meaning = report.BandOf(row.Reason).String()
		}
		t.Rows = append(t.Rows, []string{shown, row.Reason, report.FormatCount(row.Happened), report.FormatCount(row.Would), meaning})
	}
	return t
}
