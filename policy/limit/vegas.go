package limit

import (
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// vegas estimates the queue inside the resource as limit x (1 - least latency /
// latency) and keeps it between three and six times the limit's logarithm.
type vegas struct {
	bounds
	windowed
	least float64 // nanoseconds; 0: to be measured
	until float64 // samples, until it is measured anew
	luck  chance.Source
}

// probeSamples of the limit after which the least latency is measured anew.
const probeSamples = 30

func newVegas(c Config) *vegas { return &vegas{bounds: newBounds(c), luck: chance.New(c.Seed)} }

// Ended moves the limit once a window.
func (v *vegas) Ended(now unit.Instant, s Sample) {
	if v.least > 0 {
		v.until--
	}
	if !v.add(now, &s) {
		return
	}
	latency, most, drops := v.take()
	if latency > 0 && (v.least == 0 || latency < v.least || v.until <= 0) {
		v.least = latency
		v.until = float64(float64(probeSamples*v.level) * (0.5 + float64(v.luck.Below(1024))/2048))
		return
	}
	step := float64(max(decimalLog(v.Limit()), 1))
	queue := float64(v.level * (1 - v.least/max(latency, 1)))
	switch {
	case drops > 0:
		v.set(v.level - step)
	case 2*most < v.Limit():
	case queue <= step:
		v.set(v.level + float64(6*step))
	case queue < 3*step:
		v.set(v.level + step)
	case queue > 6*step:
		v.set(v.level - step)
	}
}

// decimalLog is the logarithm to base 10, rounded down: whole numbers are the same on
// every processor.
func decimalLog(n int) int {
	log := 0
	for ; n >= 10; n /= 10 {
		log++
	}
	return log
}

// State returns what there is to see.
func (v *vegas) State() State {
	return State{Law: Vegas, Limit: v.Limit(), FloorBinds: v.floor, Baseline: time.Duration(v.least), Doing: "steady"}
}
