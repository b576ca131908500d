package workload_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/workload"
)

// The first of a thousand questions is asked 1/H(1000) of the time, the second half
// as often, and none is number 0, which is no question. Where all are asked alike,
// none stands out.
func TestQuestionsAreAskedBySharesOfTheirRank(t *testing.T) {
	for text, want := range map[string]struct{ first, second float64 }{
		"1000": {0.1336, 0.0668}, "alike:1000": {0.001, 0.001}, "1": {1, 0}, "": {0, 0}, "0": {0, 0}, "alike:0": {0, 0},
	} {
		keys := must(workload.ParseKeys(text))
		source := must(workload.Spec{Seed: 3, Rate: must(workload.ConstantRate(1000)), For: 100 * time.Second, Keys: keys}.Source(workload.NewNames()))
		counts, n := map[uint64]float64{}, 0.0
		for a := new(workload.Arrival); source.Next(a); n++ {
			counts[a.Key]++
		}
		if first, second := counts[1]/n, counts[2]/n; first < 0.9*want.first || first > 1.1*want.first+1e-4 || second < 0.85*want.second || second > 1.15*want.second {
			t.Errorf("%q: the first is asked %.4f of the time, the second %.4f, want %v", text, first, second, want)
		}
		if wanted := want.first > 0; wanted != (counts[0] == 0) {
			t.Errorf("%q: %v requests ask nothing", text, counts[0])
		}
	}
}

func TestWhatIsNoLawOfKeys(t *testing.T) {
	for _, text := range []string{"-1", "many", "alike:", "1000001", "alike:-3"} {
		if k, err := workload.ParseKeys(text); err == nil {
			t.Errorf("%q is read as %v", text, k)
		}
	}
	for _, text := range []string{"1000", "alike:7", "0"} {
		if got := must(workload.ParseKeys(text)).String(); got != text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
}
