package limit

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Pressed is a limit that gives way while whoever does the work is short of what
// no latency tells of in time: memory, processor time, a place with the scheduler.
// Its driver says how near that is to what is allowed, about once a second.
//
// What gives way is a part of the limit under it, whatever law that follows. The
// part falls by as much as the pressure exceeds what is allowed, to a half at most
// at a time, and comes back by a tenth where there is room again; a signal that is
// not known holds nobody back, and neither does one that is no longer told.
type Pressed struct {
	Limiter
	given float64 // away, of the whole: the zero value gives nothing
	at    unit.Instant
}

const (
	pressedMost  = 0.5 // of what is left, at a time
	pressedBack  = 0.1 // of the whole, at a time
	pressedRoom  = 0.9 // of what is allowed: below it the limit comes back
	pressedFloor = 0.05
	// untold is when what was told of last is of another time.
	untold = 10 * time.Second
	// pressedEvery is the least time between two steps, so that a driver which
	// tells more often does not hurry it.
	pressedEvery = 500 * time.Millisecond
)

// Press takes in how near the most pressing signal is to what is allowed, 1 being
// there; below 0, or no number, where none is known.
func (p *Pressed) Press(now unit.Instant, level float64) {
	if p.at != 0 && now.Sub(p.at) < pressedEvery {
		return
	}
	p.at = max(now, 1)
	left := 1 - p.given
	switch {
	case level > 1:
		left = max(float64(left*max(1/level, pressedMost)), pressedFloor)
	case level >= pressedRoom:
	default: // there is room, or nothing is known
		left = min(left+pressedBack, 1)
	}
	p.given = 1 - left
}

// Limit returns how many may run, at least 1.
func (p *Pressed) Limit() int { return p.of(p.Limiter.Limit()) }

func (p *Pressed) of(limit int) int {
	if p.given <= 0 {
		return limit
	}
	return max(int(float64(float64(limit)*(1-p.given))+0.5), 1)
}

// Ended takes in one call. It has another way of seeing that nothing is told any
// more than a clock of its own.
func (p *Pressed) Ended(now unit.Instant, s Sample) {
	if p.given > 0 && now.Sub(p.at) > untold {
		p.given = 0
	}
	p.Limiter.Ended(now, s)
}

// State returns what there is to see.
func (p *Pressed) State() State {
	s := p.Limiter.State()
	if s.Limit = p.of(s.Limit); p.given > 0 {
		s.Doing = "giving way to pressure"
	}
	return s
}
