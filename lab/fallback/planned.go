package fallback

import (
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/sim/store"
)

// planned is what arithmetic says of the store before anything is played.
func planned() []plan.Figure {
	figure := func(name string, v float64, unit, formula, assumption string) plan.Figure {
		return plan.Figure{Name: name, Value: plan.Number(v), Unit: unit, Formula: formula, Assumption: assumption}
	}
	hold := store.Freezing.Mean()
	sustainable := plan.Throughput(slots, hold)
	return []plan.Figure{
		figure("a lookup holds a slot", hold.Seconds()*1000, "ms", "sum of share x wait", "H; the store does not stop when its caller has gone"),
		figure("16 slots sustain", sustainable, "calls/s", "slots / hold", "no slot is idle"),
		figure("stable below", plan.StableBelow(sustainable, 3), "requests/s", "sustainable / attempts", "three attempts, no budget"),
		figure("stable below with a budget of 10 %", plan.StableBelow(sustainable, plan.SustainedAttempts(3, 0.1, false)), "requests/s", "sustainable / 1.1", "the budget's floor is small beside the rate"),
		figure("freezes hold at 450/s", plan.InSystem(0.01*450, 1500*1e6), "slots", "rate x share x stay", "no retries"),
	}
}
