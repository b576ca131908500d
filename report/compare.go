package report

// An Arm is a report with the name of what was tried.
type Arm struct {
	Name   string
	Report *Report
}

// Tolerances of [Compare] between what was predicted and what was measured.
const (
	GoodputTolerance = 0.05 // of the prediction
	ShareTolerance   = 0.03 // 3 points
	P99Tolerance     = 0.20 // of the prediction
)

// A Difference is one figure of two runs side by side.
type Difference struct {
	Class     string `json:"class"`
	Figure    string `json:"figure"` // the field's name in the report
	Measured  Number `json:"measured"`
	Predicted Number `json:"predicted"`
	// Difference is measured / predicted - 1, or measured - predicted where
	// the figure is a share. [None] where one of them does not exist.
	Difference Number `json:"difference"`
	Tolerance  Number `json:"tolerance"`
	Within     bool   `json:"within"` // also where neither exists
}

// Compare lays the figures that a prediction must get right beside each other,
// for every class of the measured run, in the order of its classes.
func Compare(measured, predicted *Report) []Difference {
	var out []Difference
	for _, name := range measured.ClassNames() {
		m, p := measured.Classes[name], predicted.Classes[name]
		if p == nil {
			p = NewGroup()
		}
		for _, f := range []struct {
			figure    string
			of        func(*Group) Number
			tolerance Number
			share     bool
		}{
			{"goodput_per_s", func(g *Group) Number { return g.GoodputPerS }, GoodputTolerance, false},
			{"refused_share", (*Group).RefusedShare, ShareTolerance, true},
			{"p99_ms", func(g *Group) Number { return g.P99Ms }, P99Tolerance, false},
		} {
			d := Difference{Class: name, Figure: f.figure, Measured: f.of(m), Predicted: f.of(p), Tolerance: f.tolerance}
			switch {
			case f.share:
				d.Difference = d.Measured - d.Predicted
			case d.Measured == 0 && d.Predicted == 0:
				d.Difference = 0
			case d.Predicted != 0:
				d.Difference = d.Measured/d.Predicted - 1
			default:
				d.Difference = None()
			}
			d.Within = max(d.Difference, -d.Difference) <= f.tolerance || !d.Measured.Known() && !d.Predicted.Known()
			out = append(out, d)
		}
	}
	return out
}
