package sim

import "github.com/spillway-dev/spillway/sim/internal/events"

// kind is what an event is, in the order in which events of one instant are
// played; see the package comment.
type kind = events.Kind

const (
	workEnds kind = iota
	callTimesOut
	callerLeaves
	callerActs
	storeAnswers // what keeps the budgets
	arrives
	triesAgain
	stepsDown
	changes
	swells  // an upstream has other servers
	wakesUp // never on the heap: each machine knows its own next instant
	samples
)

type (
	event = events.Event // those of an attempt that has ended by then are skipped
	heap  = events.Heap
	line  = events.Line
	place = events.Place
)
