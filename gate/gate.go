package gate

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/gate/internal/lock"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Gate is a machine made live. Create it with New.
type Gate struct {
	epoch    time.Time
	names    atomic.Pointer[[]string] // of the classes, by index
	tap      func(boundary.Event)
	cases    func(class, id string, x *boundary.Case) // nil: nobody asks why
	reserver Reserver
	name     string // that its reservations begin with
	settling sync.WaitGroup
	waiters  sync.Pool // of *waiter; the gate's own, for channels may not leave a synctest bubble

	_ [cacheLine]byte // what is only read stays off the line that every event writes

	// mu guards all that follows. It is held for one event at a time, never
	// while waiting, and never while anybody else's code runs but the tap's.
	mu       lock.Mutex
	machine  *boundary.Machine
	armed    unit.Instant // when the timer fires; never later than anything is due
	watched  bool         // somebody looks at every event: a tap, or Drain
	out      boundary.Effects
	seats    []seat // by Ticket.Index
	timer    *time.Timer
	late     []call         // overdue callers to be told once mu is free
	asks     []*reservation // to be asked for then
	reserved uint64
	// released holds the permits whose slot was taken away while their work
	// went on, so that finishing them is no bug. One entry for each piece of
	// work that outlived the hard cap and still runs.
	released map[boundary.Ticket]struct{}
	emptied  chan struct{} // closed when a draining gate is empty; nil before
	asked    boundary.Case // the latest that was told, here so that it is no allocation
}

// cacheLine is the unit in which two cores fight over memory, on every processor
// that Go is at home on but a few that have twice as much.
const cacheLine = 64

// closed as the instant for which the timer is armed keeps it from being armed
// again.
const closed unit.Instant = math.MinInt64

// seat is what the gate keeps of a request beside the machine's record.
type seat struct {
	ticket    boundary.Ticket
	waiter    *waiter
	onOverdue func(Refusal)
	id        string
}

// Option changes what a gate does beside deciding.
type Option func(*Gate)

// WithTap has every event shown to f together with what came of it, in order,
// under the gate's lock: f must be quick, keep nothing of the event's effects,
// and not call the gate.
func WithTap(f func(boundary.Event)) Option { return func(g *Gate) { g.tap = f } }

// New returns a gate for the configuration, or the configuration's faults.
func New(cfg Config, opts ...Option) (*Gate, error) {
	m, err := boundary.New(cfg)
	if err != nil {
		return nil, err
	}
	g := &Gate{
		epoch:    time.Now(),
		machine:  m,
		armed:    unit.Never,
		reserver: unkept{},
		name:     unique(),
		released: make(map[boundary.Ticket]struct{}),
	}
	g.waiters.New = newWaiter
	g.rename()
	for _, o := range opts {
		o(g)
	}
	g.watched = g.tap != nil
	return g, nil
}

// Now returns the gate's time: nanoseconds since its making, monotonic.
func (g *Gate) Now() unit.Instant { return unit.Instant(time.Since(g.epoch)) }

func (g *Gate) time(t unit.Instant) time.Time { return g.epoch.Add(time.Duration(t)) }

// rename notes the classes' names, which never change or move: classes are only
// ever added.
func (g *Gate) rename() {
	names := make([]string, g.machine.Classes())
	for i := range names {
		names[i] = g.machine.Class(i).Name
	}
	g.names.Store(&names)
}

func (g *Gate) finish(at unit.Instant, t boundary.Ticket, o boundary.Outcome) {
	if at == 0 {
		at = g.Now()
	}
	g.mu.Lock()
	if g.machine.Next() <= at {
		// The timer is late. If the hard cap has passed the slot is gone by
		// now, and that is to be known before the work is said to have ended.
		g.machine.Advance(at, &g.out)
		g.carryOut(boundary.Event{At: at, Kind: boundary.Advanced})
	}
	if len(g.released) > 0 && g.wasReleased(t) {
		g.unlock()
		return
	}
	if len(g.seats) > 0 {
		g.stand(t)
	}
	g.machine.Done(at, t, o, &g.out)
	g.settle(at, boundary.Ended, t)
}

// wasReleased reports whether the hard cap took the slot of the work that now
// ends, and forgets it.
func (g *Gate) wasReleased(t boundary.Ticket) bool {
	_, ok := g.released[t]
	delete(g.released, t)
	return ok
}

// answered reads the clock under mu, so that the machine cannot have seen a
// later instant: what it says of the deadline is what the machine says.
func (g *Gate) answered(t boundary.Ticket, deadline unit.Instant) (at unit.Instant, inTime bool) {
	g.mu.Lock()
	now := g.Now()
	g.machine.Answered(now, t, &g.out)
	g.settle(now, boundary.Began, t)
	return now, now < deadline
}

func (g *Gate) abandon(t boundary.Ticket, why reason.Reason) {
	now := g.Now()
	g.mu.Lock()
	g.machine.Abandon(now, t, why, &g.out)
	g.explainOthers()
	g.stand(t)
	g.settle(now, boundary.Abandoned, t)
}

func (g *Gate) linger(t boundary.Ticket) {
	now := g.Now()
	g.mu.Lock()
	g.machine.Linger(now, t, &g.out)
	g.settle(now, boundary.Lingered, t)
}
