package table

import (
	"math"
	"strings"
	"testing"
)

// TestPairs shows that ratios are of figures of the same round: the machine was
// twice as slow in the second one, which changes no ratio.
func TestPairs(t *testing.T) {
	r := Row{Kind: Ratio}
	r.Add(10, 20)
	r.Add(20, 40)
	r.Add(10, 25)
	if got := r.Measure(); got != 0.5 {
		t.Errorf("median ratio %v, want 0.5", got)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   Kind
		target Target
		ours   float64
		peer   float64
		missed bool
	}{
		{"at most, met", Ratio, AtMost(0.5), 1, 2, false},
		{"at most, missed", Ratio, AtMost(0.5), 1.1, 2, true},
		{"at least, met", Ratio, AtLeast(1.2), 12, 10, false},
		{"at least, missed", Ratio, AtLeast(1.2), 11, 10, true},
		{"how many times better", Inverse, AtLeast(1.4), 100, 150, false},
		{"not so many times better", Inverse, AtLeast(1.4), 100, 130, true},
		{"difference, met", Difference, AtMost(5), 104, 100, false},
		{"difference, missed", Difference, AtMost(5), 106, 100, true},
		{"value, missed", Value, AtMost(1), 1.5, 0, true},
		{"no target", Ratio, Target{}, 100, 1, false},
		{"nothing to divide by", Ratio, AtMost(1), 0, 0, true},
	} {
		r := Row{Kind: c.kind, Target: c.target}
		r.Add(c.ours, c.peer)
		if r.Missed() != c.missed {
			t.Errorf("%s: missed = %v, want %v (%s)", c.name, r.Missed(), c.missed, r.middle())
		}
	}
	if never := (&Row{Target: AtMost(1)}); !never.Missed() {
		t.Error("a row that was never measured holds its target")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 2, 3}, 2.5},
		{nil, math.NaN()},
		{[]float64{1, math.NaN(), 3}, math.NaN()},
	} {
		got := Median(c.in)
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("Median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestWrite(t *testing.T) {
	tab := Table{Title: "Title"}
	r := tab.Row("ours against theirs", "ns", Ratio, AtMost(0.15))
	r.Add(100, 1000)
	tab.Row("alone", "ms", Value, Target{}).Add(0.25, 0)
	tab.Note("a note")
	var b strings.Builder
	if err := tab.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| ours against theirs | 100 ns | 1000 ns | 0.100x (0.100 to 0.100, n=1) | <= 0.15 | holds |",
		"| alone | 0.250 ms | - | 0.250 ms (0.250 to 0.250, n=1) | reported |  |",
		"\na note\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("missing %q in\n%s", want, b.String())
		}
	}
}
