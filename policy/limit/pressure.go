package limit

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Pressure has limits give way while whoever does the work is short of what no
// latency tells of in time: memory, processor time, a place with the scheduler.
// Its driver says how near that is to what is allowed, about once a second.
//
// What gives way is a part of the limit under it, whatever law that follows. The
// part falls by as much as the pressure exceeds what is allowed, to a half at most
// at a time, and comes back by a tenth where there is room again; a signal that is
// not known holds nobody back, and neither does one that is no longer told (see
// Lapses). The zero value gives nothing away.
type Pressure struct {
	given int // away, of pressureWhole
	at    unit.Instant
}

const (
	pressureWhole = 1_000_000
	pressureMost  = 0.5                // of what is left, at a time
	pressureBack  = pressureWhole / 10 // at a time
	pressureRoom  = 0.9                // of what is allowed: below it the limit comes back
	pressureFloor = pressureWhole / 20
	// PressureHeld is for how long what was told last counts.
	PressureHeld = 10 * time.Second
	// pressureEvery is the least time between two steps, so that a driver which
	// tells more often does not hurry it.
	pressureEvery = 500 * time.Millisecond
)

// Told takes in how near the most pressing signal is to what is allowed, 1 being
// there; below 0, or no number, where none is known.
func (p *Pressure) Told(now unit.Instant, level float64) {
	if p.at != 0 && now.Sub(p.at) < pressureEvery {
		return
	}
	p.at = max(now, 1)
	left := pressureWhole - p.given
	switch {
	case level > 1:
		left = max(int(float64(float64(left)*max(1/level, pressureMost))), pressureFloor)
	case level >= pressureRoom:
	default: // there is room, or nothing is known
		left = min(left+pressureBack, pressureWhole)
	}
	p.given = pressureWhole - left
}

// Of returns what is left of a limit, at least 1.
func (p *Pressure) Of(limit int) int {
	if p.given <= 0 {
		return limit
	}
	return max((limit*(pressureWhole-p.given)+pressureWhole/2)/pressureWhole, 1)
}

// Given returns the part that is given away, from 0 to 0.95.
func (p *Pressure) Given() float64 { return float64(p.given) / pressureWhole }

// Lapses returns when what is given away is to be forgotten if nothing is told until
// then, or Never: a driver that has died holds no limit down for ever.
func (p *Pressure) Lapses() unit.Instant {
	if p.given <= 0 {
		return unit.Never
	}
	return p.at.Add(PressureHeld)
}

// Lapse forgets it.
func (p *Pressure) Lapse() { p.given = 0 }
