package text_test

import (
	"os"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/text"
)

// A lab's own table between its finding and how to repeat it.
func ExampleWriteTable() {
	o := text.Options{} // text.For(os.Stdout) where a command writes
	_ = text.WriteFindings(os.Stdout, []string{"Weights of 2:1:1 give acme twice the share of the others."}, o)
	_ = text.WriteTable(os.Stdout, text.Table{
		Head: []string{"tenant", "offered", "completed"},
		Rows: [][]string{{"acme", "30", "6"}, {"globex", "6", "3"}, {"initech", "6", "3"}, {"all", "42", "12"}}, Total: true,
	}, o)
	_ = text.WriteRepeat(os.Stdout, &report.Report{Mode: "virtual", Seed: 1,
		Meta: report.Meta{Version: "v0.1.0", Command: "spillway lab fair --policy wrr"}}, o)
	// Output:
	// Weights of 2:1:1 give acme twice the share of the others.
	// tenant   offered  completed
	// acme          30          6
	// globex         6          3
	// initech        6          3
	// ---------------------------
	// all           42         12
	// virtual | seed 1 | v0.1.0
	// repeat: spillway lab fair --policy wrr
}
