package lab

import (
	"fmt"

	"github.com/spillway-dev/spillway/report"
)

// Relation is how a measured figure is expected to stand to a value.
type Relation string

// The relations.
const (
	Is      Relation = "="
	AtMost  Relation = "<="
	AtLeast Relation = ">="
)

// Prediction is an expectation about figures of one arm, written before it is
// played. All of its figures must hold for it to hold.
type Prediction struct {
	Says    string          `json:"says"` // in words
	Arm     string          `json:"arm"`
	Figures []string        `json:"figures"`
	Is      Relation        `json:"is"`
	Values  []report.Number `json:"values"` // one a figure
	// Than, if set, names another arm: the values are then multiples of that
	// arm's figures of the same names.
	Than string `json:"than,omitempty"`
}

// Expect returns a prediction about one figure.
func Expect(arm, figure string, is Relation, value float64, says string) Prediction {
	return Prediction{Says: says, Arm: arm, Figures: []string{figure}, Is: is, Values: []report.Number{report.Number(value)}}
}

// Against returns a prediction about one figure as a multiple of the same
// figure in another arm.
func Against(arm, figure string, is Relation, times float64, than, says string) Prediction {
	p := Expect(arm, figure, is, times, says)
	p.Than = than
	return p
}

// Verdict is a prediction beside what was measured.
type Verdict struct {
	Prediction
	Measured []report.Number `json:"measured"`
	// Verdict is held, wrong, or unknown where a figure does not exist.
	Verdict string `json:"verdict"`
}

// The verdicts.
const (
	Held    = "held"
	Wrong   = "wrong"
	Unknown = "unknown"
)

// Judge returns a verdict for each prediction about an arm that was played, in
// their order. Figures are compared as they are written, to six decimals.
func Judge(predictions []Prediction, arms map[string]Figures) []Verdict {
	verdicts := []Verdict{}
	for _, p := range predictions {
		figures, played := arms[p.Arm]
		if !played || p.Than != "" && arms[p.Than] == nil {
			continue
		}
		v := Verdict{Prediction: p, Verdict: Held}
		for i, name := range p.Figures {
			measured, known := figures[name]
			if !known {
				measured = report.None()
			}
			v.Measured = append(v.Measured, measured)
			want := p.Values[i]
			if p.Than != "" {
				other, known := arms[p.Than][name]
				if !known {
					other = report.None()
				}
				want = report.Number(float64(want) * float64(other))
			}
			if one := p.Is.judge(measured, want); one != Held && v.Verdict != Unknown {
				v.Verdict = one
			}
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

const nearly = 1e-6 // figures are written to six decimals

func (is Relation) judge(measured, want report.Number) string {
	if !measured.Known() || !want.Known() {
		return Unknown
	}
	d := float64(measured - want)
	ok := false
	switch is {
	case Is:
		ok = d <= nearly && d >= -nearly
	case AtMost:
		ok = d <= nearly
	case AtLeast:
		ok = d >= -nearly
	}
	if ok {
		return Held
	}
	return Wrong
}

// Validate returns what is wrong with a prediction: a lab's own mistake.
func (p *Prediction) Validate() error {
	if len(p.Figures) == 0 || len(p.Figures) != len(p.Values) {
		return fmt.Errorf("prediction %q: %d figures and %d values; each figure needs one", p.Says, len(p.Figures), len(p.Values))
	}
	if p.Is != Is && p.Is != AtMost && p.Is != AtLeast {
		return fmt.Errorf("prediction %q: relation %q; it is one of = <= >=", p.Says, p.Is)
	}
	return nil
}
