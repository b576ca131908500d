package gap

import "github.com/spillway-dev/spillway/policy/shed"

// Given returns a number as a gap, and whether it lay outside 0 .. 1: then it counts
// as the nearer end, and what is no number as useless, so that nobody is shed because
// a figure failed.
func Given(x float64) (g shed.Gap, outside bool) {
	return shed.GapOf(x), !(x >= 0 && x <= 1)
}
