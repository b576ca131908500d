package limit

import "github.com/spillway-dev/spillway/policy/unit"

// aimd knows drops only: a resource that answers late and still in time looks as
// well as one at ease.
type aimd struct {
	bounds
	cut unit.Instant
}

const backOff = 0.9

func newAIMD(c Config) *aimd { return &aimd{bounds: newBounds(c)} }

// Ended rises by one for a limit's worth of answers, while at least half of it is in
// use, and falls by a tenth for the drops of calls begun since it last fell.
func (a *aimd) Ended(now unit.Instant, s Sample) {
	switch v := s.says(); {
	case v == dropped && now-unit.Instant(s.Held) >= a.cut:
		a.cut = now
		a.set(float64(a.level * backOff))
	case v == answered && 2*s.Running >= a.Limit():
		a.set(a.level + 1/a.level)
	}
}

// State returns what there is to see.
func (a *aimd) State() State {
	return State{Law: AIMD, Limit: a.Limit(), FloorBinds: a.floor, Doing: "steady"}
}
