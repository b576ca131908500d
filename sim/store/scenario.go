package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Scenario is one round.
type Scenario struct {
	Draws *Draws
	Rate  float64       // offered, requests/s
	For   time.Duration // length of the offered load; what was offered is played to its end
	// Policy is how the service calls the store.
	Policy call.Policy
	// Deadline of a request, from its scheduled instant; 0: it has none.
	Deadline time.Duration
	// Travels has the limit of each attempt go along with it: the store stops at
	// it, unless it is Deaf.
	Travels bool
	// Senders is how many requests the tester may have under way.
	Senders int
	// Rest is what scoring and network add to every answer.
	Rest  time.Duration
	Store Store
}

// Store is the model of the dependency.
type Store struct {
	Slots  int // of each copy
	Copies int // 0 counts as 1
	Busy   Busy
	// Together has all copies busy at the same times.
	Together bool
	// Guarded has a boundary of spillway in front of each copy: slots, a waiting
	// room, what cannot be answered within the limit that came along is refused.
	Guarded bool
	// Deaf has a lookup that holds a slot run out its wait although its limit went
	// along. For guarded stores: it is the guard then that reads limits.
	Deaf bool
}

// Validate returns what is wrong with the scenario, or nil.
func (s *Scenario) Validate() error {
	var errs []error
	fault := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if s.Draws == nil {
		fault("no draws; give it those of a round")
	}
	if !(s.Rate > 0 && s.Rate <= 1e6) {
		fault("a rate of %v/s: it is above 0 and at most 1,000,000", s.Rate)
	}
	if s.For <= 0 || s.For > time.Hour {
		fault("a round of %v: it is above 0 and at most 1h", s.For)
	}
	if s.Senders < 1 || s.Senders > 1<<16 {
		fault("%d senders: from 1 to %d", s.Senders, 1<<16)
	}
	if s.Store.Slots < 1 || s.Store.Slots > 1<<16 {
		fault("%d slots: from 1 to %d", s.Store.Slots, 1<<16)
	}
	if s.Store.Deaf && !s.Store.Guarded {
		fault("a deaf store without a guard: leave out Travels instead")
	}
	if s.Store.Copies < 0 || s.Store.Copies > 64 {
		fault("%d copies of the store: at most 64", s.Store.Copies)
	}
	return errors.Join(errs...)
}

// Request is one request when it is answered. Instants are since the start.
type Request struct {
	N         int64
	Scheduled unit.Instant
	Begun     unit.Instant // by a sender
	Sent      unit.Instant // when the deciding lookup was; Begun where there is none
	Slot      unit.Instant // when the deciding lookup got its slot; -1: it never did
	Decided   unit.Instant // when the service knew what to answer
	Answered  unit.Instant // Decided and Rest
	Deadline  unit.Instant // unit.Never: none
	Attempts  int
	// Deciding is the attempt that answered, or else the last try's first; 0: none.
	Deciding uint16
	Reason   reason.Reason // reason.Served, or why not
	// Frozen is whether any of its attempts froze; FirstFrozen whether the first did.
	Frozen, FirstFrozen bool
	// CutUnfrozen is whether an attempt was cut off by its limit although it had not frozen.
	CutUnfrozen bool
}

// Lookup is one attempt at the store, when the store is rid of it.
type Lookup struct {
	N       int64
	Attempt uint16
	Copy    int
	Hedge   bool
	Sent    unit.Instant
	Begun   unit.Instant // -1: it never got a slot
	Ended   unit.Instant // it left slot or line
	Limit   unit.Instant // of the caller; unit.Never: none
	Drawn   time.Duration
	Frozen  bool
	Cut     bool // the service stopped listening, for its limit had come
	Fate    Fate
}

// Fate is what became of a lookup.
type Fate uint8

// The fates.
const (
	Used    Fate = iota // its answer was the request's
	Late                // it ended when nobody listened any more
	Stopped             // the store stopped it at its limit
	Turned              // the guard turned it away
)

var fateNames = [...]string{"used", "late", "stopped", "turned"}

// String returns the fate's name.
func (f Fate) String() string { return fateNames[f] }

// Watch hears of everything; nil fields hear nothing. What they are handed is
// overwritten after they return.
type Watch struct {
	Request func(*Request)
	Lookup  func(*Lookup)
}
