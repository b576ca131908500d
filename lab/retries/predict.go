package retries

import (
	"fmt"

	"github.com/spillway-dev/spillway/lab"
)

// promised: up to this share of capacity Spillway promises to come back. Above it a
// second without a refusal is luck, outage or not.
const promised = 0.934

// predictions are what the paper's arithmetic and Spillway's promise say of the
// table. Above capacity / (1 + retries) an outage is for ever; a budget of a tenth
// moves that border to capacity / 1.1.
func predictions(o Options) []lab.Prediction {
	var all []lab.Prediction
	for _, s := range o.Arms() {
		switch {
		case s.Front && s.PerS > promised*capacityS:
			// nobody has said
		case s.Front:
			all = append(all, lab.Expect(s.Name, "median.worst_share_after_two_timeouts", lab.AtLeast, healthy,
				"from two timeouts after the outage on every second has 99 % of its callers answered"))
		case s.Obeys:
			// nobody has said
		default:
			more := float64(s.Retries)
			if s.Budget || s.Library {
				more = 0.1
			}
			border := capacityS / (1 + more)
			if s.PerS > border && s.OutForS > 0 {
				all = append(all, lab.Expect(s.Name, "median.answered_after_per_s", lab.AtMost, 0.05*s.PerS,
					fmt.Sprintf("above %.0f/s the outage never ends", border)))
			} else {
				all = append(all, lab.Expect(s.Name, "median.answered_after_per_s", lab.AtLeast, 0.95*s.PerS,
					fmt.Sprintf("below %.0f/s it does", border)))
			}
		}
	}
	return all
}
