package sim

import (
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
)

// A request that a machine does not govern, because its class is off or in
// shadow or in force for others, runs at once. Its caller waits for as long as it
// takes, and its answer is good if it comes inside the deadline that would have
// governed it.

// undecided reports whether a machine has still to decide about requests that
// have ended already.
func (r *run) undecided() bool {
	for _, m := range r.machines {
		if m.Undecided() > 0 {
			return true
		}
	}
	return false
}

// collectShadows hands to the report what the machines decided and did not
// carry out. What a warm-up leaves out of all else is in it.
func (r *run) collectShadows() {
	for _, m := range r.machines {
		for i := range m.Classes() {
			c := m.Class(i)
			if c.Shadow == nil || r.byName[c.Name].asked != 0 {
				continue
			}
			t := &c.Shadow.Tally
			s := report.Shadow{Offered: t.Offered, Waiting: t.Waiting, Running: t.Running, Reasons: report.Counts{}}
			for why, n := range t.Answered {
				if n > 0 {
					s.Reasons[reason.Reason(why).String()] = n
				}
			}
			r.collector.Class(c.Name).Shadow(s)
		}
	}
}
