package live

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/workload"
)

// Round is what is played.
type Round struct {
	// File is the gateway's configuration, with ScorerURL where the scorer's is to stand
	// and ListFile as the file of the list.
	File string
	// Slots and Service are the scorer's, which is slow or out as Conditions say.
	Slots      int
	Service    time.Duration
	Conditions string
	// Strokes are the keystrokes, in order of time, numbered from 0.
	Strokes []Stroke
	// Until is when whoever has no answer yet is given up.
	Until time.Duration
}

// Stroke is a keystroke as it is offered.
type Stroke struct {
	At      time.Duration
	Session uint64 `json:",omitempty"` // of the writer; 0: it is not said
	Stretch uint64 `json:",omitempty"` // its sentence
	Key     uint64 `json:",omitempty"` // what it asks; 0: nothing is asked twice
	Gap     int32  `json:",omitempty"` // millionths
	Listed  bool   `json:",omitempty"` // it is to go to the list at once
}

// Placeholders of Round.File.
const (
	ScorerURL = "http://scorer"
	ListFile  = "list.json"
)

// Bounds of a round.
const (
	slotsMax   = 1 << 10
	strokesMax = 2_000_000
	perSMost   = 20_000 // a second, on average
	untilMost  = time.Hour
)

// Validate returns what is wrong with the round, or nil.
func (r *Round) Validate() error {
	switch {
	case r.Slots < 1 || r.Slots > slotsMax:
		return fmt.Errorf("%d slots: live from 1 to %d", r.Slots, slotsMax)
	case r.Service <= 0 || r.Service > time.Second:
		return fmt.Errorf("a service time of %v: live above 0 and at most 1s", r.Service)
	case r.Until <= 0 || r.Until > untilMost:
		return fmt.Errorf("a round of %v: it is above 0 and at most %v", r.Until, untilMost)
	case len(r.Strokes) > strokesMax || float64(len(r.Strokes)) > perSMost*r.Until.Seconds():
		return fmt.Errorf("%d keystrokes in %v: live at most %d, and %d a second; take fewer --slots or a lower --load", len(r.Strokes), r.Until, strokesMax, perSMost)
	}
	_, err := workload.ParseConditions(r.Conditions)
	return err
}

// spec is what a part is told before it opens.
type spec struct{ Round }

// spec is the round as far as a part needs it.
func (r *Round) spec(part string) spec {
	s := spec{*r}
	if part != Tester {
		s.Strokes = nil
	}
	return s
}
