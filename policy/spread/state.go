package spread

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// State is what is known of a copy.
type State struct {
	// InFlight is what it was given and has not ended; Slots how much it is
	// given before it counts as saturated, 0 without limit.
	InFlight, Slots int
	// Weight is how much of the load it gets beside the others; 0: nothing new.
	Weight int
	// Out reports whether it gets no turns. A bad copy that is not Out is used
	// because of the floor, or because all are bad.
	Out bool
	// Ejected and Unhealthy say why it is bad, if it is.
	Ejected, Unhealthy bool
	// Left is for how much longer it is ejected, Times the how manieth time in
	// short order it is.
	Left  time.Duration
	Times int
	// Part is the percentage of its turns that it gets, less than 100 while it starts
	// slowly.
	Part int
	// Draining reports whether it only ends what it has.
	Draining bool
}

// State returns the state of a copy.
func (s *Spread) State(now unit.Instant, c Copy) State {
	if now >= s.wake {
		s.readmit(now)
	}
	k := &s.copies[c]
	st := State{
		InFlight: k.flying, Weight: k.weight, Out: k.out, Draining: k.draining,
		Ejected: k.ejected, Unhealthy: k.down, Times: k.times, Part: 100,
	}
	if s.cfg.Slots > 0 || s.cfg.Connections > 0 {
		st.Slots = k.most
	}
	if k.ejected {
		st.Left = k.until.Sub(now)
	}
	if k.ramp > 0 {
		st.Part = k.part(now) * 100 / partsOfOne
	}
	return st
}

// Panic reports whether copies are used because all are bad.
func (s *Spread) Panic() bool { return s.open > 0 && len(s.bad) >= s.open }
