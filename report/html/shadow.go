package html

import "github.com/spillway-dev/spillway/report"

// shadowTable holds what was beside what would have been, for the classes whose
// decisions were not all carried out.
func shadowTable(r *report.Report) Table {
	t := Table{Heading: "In shadow", Left: []int{1}, Head: []string{"class", "reason", "happened", "would be"},
		Caption: "Classes whose decisions were not all carried out: what became of their requests, and what the policy decided of them."}
	for _, row := range r.ShadowRows() {
		t.Rows = append(t.Rows, []string{row.Class, row.Reason, report.FormatCount(row.Happened), report.FormatCount(row.Would)})
	}
	return t
}
