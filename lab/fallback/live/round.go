package live

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/sim/store"
)

// Round is what is played. It travels to every part as JSON.
type Round struct {
	Seed   uint64
	Number int    // from 0
	Waits  string // F, L or H
	Slow   int    // millionths of the requests that are a slow customer's
	Rate   float64
	For    time.Duration
	Policy call.Policy
	// Deadline of a request, from its scheduled instant; 0: it has none.
	Deadline time.Duration
	// Travels has limits go along with lookups; the store stops at them.
	Travels bool
	Senders int
	Slots   int
	// Rest is slept by the service before it answers.
	Rest time.Duration
	// StandIns has the service answer with the customer's last known score, or a
	// default, where the store did not answer; else it answers with an error.
	StandIns bool

	// flatOut is for how long senders ask without a pause, of a store that does not
	// wait, to measure the capacity; 0: an ordinary round.
	flatOut time.Duration
}

// Bounds of a round.
const (
	sendersMax = 1 << 12
	slotsMax   = 1 << 10
	lineMax    = 1 << 18 // lookups in the store's line
)

// Validate returns what is wrong with the round, or nil.
func (r *Round) Validate() error {
	if _, err := store.ParseLaw(r.Waits); err != nil {
		return err
	}
	switch {
	case !(r.Rate > 0 && r.Rate <= 100_000):
		return fmt.Errorf("a rate of %v/s: live it is above 0 and at most 100,000", r.Rate)
	case r.For <= 0 || r.For > time.Hour:
		return fmt.Errorf("a round of %v: it is above 0 and at most 1h", r.For)
	case r.Rate*r.For.Seconds() > 2e6:
		return fmt.Errorf("%.0f requests a round: live at most 2,000,000; lower --rate or --seconds", r.Rate*r.For.Seconds())
	case r.Senders < 1 || r.Senders > sendersMax:
		return fmt.Errorf("%d senders: live from 1 to %d", r.Senders, sendersMax)
	case r.Slots < 1 || r.Slots > slotsMax:
		return fmt.Errorf("%d slots: live from 1 to %d", r.Slots, slotsMax)
	}
	return r.Policy.Validate()
}

// draws are the round's dice.
func (r *Round) draws() (*store.Draws, error) {
	law, err := store.ParseLaw(r.Waits)
	if err != nil {
		return nil, err
	}
	return store.NewDraws(r.Seed, r.Number, law, r.Slow), nil
}

// spec is what a part is told before it opens.
type spec struct {
	Round   Round
	FlatOut time.Duration
}

// round is the round with what does not travel with it.
func (s *spec) round() Round {
	r := s.Round
	r.flatOut = s.FlatOut
	return r
}
