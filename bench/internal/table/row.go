package table

import (
	"fmt"
	"math"
	"slices"
)

// Kind says what of a row is judged.
type Kind uint8

const (
	Ratio      Kind = iota // ours / against
	Inverse                // against / ours: how many times better, where less is better
	Difference             // ours - against, in the row's unit
	Value                  // ours alone
)

// Target is what a row's median has to reach. The zero Target is none: the row
// is only reported.
type Target struct {
	op string
	at float64
}

// AtMost is met by x and less.
func AtMost(x float64) Target { return Target{"<=", x} }

// AtLeast is met by x and more.
func AtLeast(x float64) Target { return Target{">=", x} }

func (t Target) met(x float64) bool {
	switch t.op {
	case "<=":
		return x <= t.at
	case ">=":
		return x >= t.at
	}
	return true
}

// Row is one comparison.
type Row struct {
	What    string // what is compared with what
	Unit    string // of Ours and Against
	Kind    Kind
	Target  Target
	Ours    []float64 // one a round
	Against []float64 // of the same rounds; none where Kind is Value
}

// Add appends a round.
func (r *Row) Add(ours, against float64) {
	r.Ours = append(r.Ours, ours)
	if r.Kind != Value {
		r.Against = append(r.Against, against)
	}
}

// measures returns what is judged, a figure a round.
func (r *Row) measures() []float64 {
	out := make([]float64, len(r.Ours))
	for i, ours := range r.Ours {
		switch r.Kind {
		case Ratio:
			out[i] = ours / r.Against[i]
		case Inverse:
			out[i] = r.Against[i] / ours
		case Difference:
			out[i] = ours - r.Against[i]
		default:
			out[i] = ours
		}
	}
	return out
}

// Measure returns the median that is judged; NaN if nothing was measured.
func (r *Row) Measure() float64 { return Median(r.measures()) }

// Missed reports whether the row has a target that its median does not reach.
// A figure that was not measured misses every target.
func (r *Row) Missed() bool {
	m := r.Measure()
	return r.Target.op != "" && (math.IsNaN(m) || !r.Target.met(m))
}

// Median returns the middle figure, the mean of the two middle ones where their
// number is even, and NaN of none.
func Median(figures []float64) float64 {
	if len(figures) == 0 || slices.ContainsFunc(figures, math.IsNaN) {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(figures))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Format writes a figure with three significant digits, and none after the
// point from 100 on.
func Format(x float64) string {
	switch abs := math.Abs(x); {
	case math.IsNaN(x):
		return "-"
	case abs >= 100 || abs == 0:
		return fmt.Sprintf("%.0f", x)
	case abs >= 10:
		return fmt.Sprintf("%.1f", x)
	case abs >= 1:
		return fmt.Sprintf("%.2f", x)
	default:
		return fmt.Sprintf("%.3f", x)
	}
}
