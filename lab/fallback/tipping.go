package fallback

import (
	"math"

	"github.com/spillway-dev/spillway/report"
)

// Tipping is how many rounds tipped, and between which shares the true one lies.
type Tipping struct {
	Rounds int           `json:"rounds"`
	Tipped int           `json:"tipped"`
	Share  report.Number `json:"share"`
	Low    report.Number `json:"low"`
	High   report.Number `json:"high"`
}

// tippingOf counts the rounds that tipped.
func tippingOf(rounds []Round) Tipping {
	t := Tipping{Rounds: len(rounds)}
	for _, r := range rounds {
		if r.Tipped {
			t.Tipped++
		}
	}
	t.Share = report.Share(int64(t.Tipped), int64(t.Rounds))
	t.Low, t.High = wilson(t.Tipped, t.Rounds)
	return t
}

// z95 is the normal law's quantile for a 95 % range.
const z95 = 1.959963984540054

// wilson is the 95 % range of a share of which k of n were seen (E. B. Wilson,
// "Probable Inference", 1927). Unlike the textbook range it is right for shares
// near 0 and for few rounds.
func wilson(k, n int) (low, high report.Number) {
	if n == 0 {
		return report.None(), report.None()
	}
	p, m := float64(k)/float64(n), float64(n)
	middle := p + z95*z95/(2*m)
	half := z95 * math.Sqrt(p*(1-p)/m+z95*z95/(4*m*m))
	all := 1 + z95*z95/m
	return report.Number(max(0, (middle-half)/all)), report.Number(min(1, (middle+half)/all))
}
