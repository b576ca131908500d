package sim

import (
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload"
)

// attempt is one request as boundary and report see it, from its arrival until
// its caller has been answered and its work has ended, whichever is later.
type attempt struct {
	ticket    boundary.Ticket
	number    int64        // of the arrival in its stream
	scheduled unit.Instant // of the caller's first attempt
	arrived   unit.Instant
	started   unit.Instant // got its slot
	begun     unit.Instant // upstream began to serve
	deadline  unit.Instant // as the boundary set it
	due       unit.Instant // as its caller has it: what is kept back of it is in it
	service   time.Duration
	allowed   time.Duration // what the caller names as its deadline; 0 is nothing
	cost      int64
	bytes     int64
	session   uint64
	stretch   uint64
	key       uint64

	copy   spread.Copy  // of the upstream, that has the work
	sent   unit.Instant // to it
	class  *class
	tally  *report.Tally
	stream int32
	tenant workload.Name
	gap    shed.Gap
	level  int32 // of importance
	try    int32 // 0 is the first
	life   uint32
	calls  int32 // to the upstream, made for it
	// A request whose class has a call policy, and an errand of its call.
	calling int32         // its call while that runs; 0: none
	nth     uint16        // of the call's attempts; 0 is no errand
	asker   int32         // the caller, where it uses the client library; 0: none
	unsent  bool          // not offered yet
	down    int32         // the way down that it is a step of; 0: it is a caller's
	of      place         // the request
	why     reason.Reason // of the work's end, once stopped

	// What the store has reserved for it, and what its provider has counted; nil: nothing.
	reserved, provided *errandOfStore

	place      where
	work       work
	counted    bool // did not arrive during warm-up
	hasStarted bool
	answered   bool // the caller has its answer, or is gone
	abandoned  bool // answered, while the work goes on
	failing    bool // the work will end in a failure
	voided     bool // the hard cap took the slot and the ticket away
	ungoverned bool // it runs whatever the machine decides
	leaving    bool // the caller leaves at this very instant
	judged     bool // its copy has been told what came of it
}

// where an attempt is in the boundary.
type where uint8

const (
	outside where = iota
	waiting
	reserving
	running
)

// work says what the upstream does for an attempt.
type work uint8

const (
	none work = iota
	inLine
	served
	stopped // before its end; its slot is given back at this instant
	ending  // at this very instant
)

// arena holds the attempts that are alive. Indices stay; pointers do too, so
// memory comes in blocks.
type arena struct {
	blocks [][]attempt
	free   []int32
}

const blockBits = 10

func (a *arena) at(i int32) *attempt { return &a.blocks[i>>blockBits][i&(1<<blockBits-1)] }

// take returns a blank attempt.
func (a *arena) take() int32 {
	if len(a.free) == 0 {
		first := int32(len(a.blocks)) << blockBits
		a.blocks = append(a.blocks, make([]attempt, 1<<blockBits))
		for i := int32(1<<blockBits) - 1; i >= 0; i-- {
			a.free = append(a.free, first+i)
		}
	}
	last := len(a.free) - 1
	i := a.free[last]
	a.free = a.free[:last]
	return i
}

// give takes an attempt back; events and places that name it turn stale.
func (a *arena) give(i int32) {
	p := a.at(i)
	*p = attempt{life: p.life + 1}
	a.free = append(a.free, i)
}
