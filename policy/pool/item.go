package pool

import (
	"time"

	"github.com/spillway-dev/spillway/policy/agenda"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// State is where a request is on its way.
type State uint8

// The states. A free item stands for no request.
const (
	Free      State = iota
	Blocked         // its producer is held before the full room
	Waiting         // in the room
	Running         // holds a slot, its caller waits
	Abandoned       // holds a slot, its caller has been answered
	Streaming       // its answer flows without a slot
	Apart           // neither waits nor holds a slot: it runs whatever was decided of it
	Reserving       // holds a slot, its caller waits: what it needs of its budgets is asked for
)

var stateNames = [...]string{"free", "blocked", "waiting", "running", "abandoned", "streaming", "apart", "reserving"}

// String returns the state's name.
func (s State) String() string { return stateNames[s] }

// Item is the record of one request while it waits or holds a slot.
type Item struct {
	Ticket     uint64 // the machine's name for it
	State      State
	Flowing    bool // its answer has begun
	Importance uint8
	Class      int
	Tenant     *Tenant
	Cost       unit.Cost // as estimated, and charged
	Client     uint64    // whose limit it counts against while it is here; 0 if none
	Bytes      int64     // what it is charged with retaining while it waits
	Seq        uint64    // order of arrival in the machine; breaks every tie
	Offered    unit.Instant
	Started    unit.Instant
	Deadline   unit.Instant

	// Ask is what it needs of its budgets; nil where there are none. It is somebody
	// else's, and never changed.
	Ask *quota.Ask

	turn      uint64        // Room.turn when it entered
	predicted time.Duration // how long it was to wait

	// Due is when the item's state ends by itself: deadline, maximum age,
	// end of blocking, or the hard cap on abandoned work.
	Due agenda.Entry[*Item]

	links [linkKinds]struct{ next, prev *Item }
}
