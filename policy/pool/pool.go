package pool

import (
	"fmt"
	"math"
	"time"

	"github.com/spillway-dev/spillway/policy/estimate"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/policy/unit"
)

// deepBacklog is how many times the allowed wait the oldest must have waited
// before adaptive order turns around. Turning costs all who wait at that moment
// their place, about a roomful: at the allowed wait itself, which a full room
// comes close to all the time, it turned several times a second and lost one
// request in ten for nothing (40 slots of 100 ms, offered 1.5 times their rate by
// three tenants, virtual time).
const deepBacklog = 2

// spareShare: the oldest waiter of a room that serves also the late is not too old
// until it has half a call's time left. A room whose bound is derived from the
// deadline has it wait until it has just the time of a call, give or take a slot
// that comes free a little later: there is nothing to turn around for. Where the
// room is too large it is served when it has next to nothing left.
const spareShare = 2

// Pool is one class's slots and waiting room, and what is measured of it.
type Pool struct {
	Slots
	Room
	Tenants

	cfg Config
	// allotted: what it has is a part of a limit that moves, not what is configured.
	allotted bool
	holding  estimate.Mean
	service  serviceTimes
	late     estimate.Quantiles // of waits beyond their prediction; see late.go
	lateBy   time.Duration      // what it says; 0 while too few have waited

	// Derived, and re-derived when the holding time has moved by more than
	// 1/64: the time between two slots coming free, with the slots that are
	// guaranteed and with all that may be borrowed, and where the bound is
	// from.
	interval    time.Duration
	shortest    time.Duration
	derivedFrom time.Duration
	boundFrom   plan.BoundFrom
}

// New returns a pool with that configuration.
func New(cfg Config) *Pool {
	p := &Pool{
		Slots:   NewSlots(cfg.Slots, cfg.Borrow),
		Room:    newRoom(cfg),
		Tenants: newTenants(cfg.Tenants, cfg.levels()),
		cfg:     cfg,
		service: newServiceTimes(),
		late:    estimate.NewQuantiles(almostEveryWait),
	}
	p.derive()
	return p
}

// Config returns the configuration.
func (p *Pool) Config() *Config { return &p.cfg }

// BoundFrom returns which rule gave the room's bound its value.
func (p *Pool) BoundFrom() plan.BoundFrom { return p.boundFrom }

// Holding returns how long a slot is held on average: measured, or as
// configured until enough calls have ended; 0 if neither.
func (p *Pool) Holding() time.Duration {
	if p.holding.Samples() < samplesMin {
		return p.cfg.Service
	}
	return p.holding.Value()
}

// ServiceTime returns what almost every call takes. It is 0 while too few calls
// have been measured, and so are the next two. What a request must have left to
// be let in to wait is more; see NeededToWait.
func (p *Pool) ServiceTime() time.Duration { return p.service.toWait() }

// TurnTime returns what a waiter must have left at its turn.
func (p *Pool) TurnTime() time.Duration { return p.service.atTurn() }

// RunTime returns what a request must have left that finds a free slot.
func (p *Pool) RunTime() time.Duration { return p.service.toRun() }

// Interval returns the mean time between two slots coming free while all
// guaranteed ones are held, at least a nanosecond; 0 while the holding time is
// not known.
func (p *Pool) Interval() time.Duration { return p.interval }

// AllowedWait returns how long a request may wait and stay inside its budget.
func (p *Pool) AllowedWait() time.Duration {
	service := p.cfg.Service
	if service <= 0 {
		service = p.Holding()
	}
	return plan.AllowedWait(p.cfg.Latency, service)
}

// FullStage reports whether no more producers can be held before the room: the
// second stage is bounded like the room itself.
func (p *Pool) FullStage() bool { return p.blocked.len >= p.bound }

// PredictWait returns how long an arrival of t with that importance will wait
// at the least: until all who are sure to go first have found a slot, borrowed
// ones included. It is a lower estimate; see Room.ahead.
func (p *Pool) PredictWait(t *Tenant, importance uint8, now unit.Instant) time.Duration {
	return time.Duration(p.ahead(t, importance, now)) * p.shortest
}

// Predict notes how long the item, which is about to enter, is to wait.
func (p *Pool) Predict(it *Item) {
	it.predicted = p.PredictWait(it.Tenant, it.Importance, it.Offered)
}

// shortestMax keeps predictions inside an int64, for as many as can wait
// (plan.MaxBound, 2^20). It is 73 minutes from one slot coming free to the next,
// and a prediction is a lower estimate still.
const shortestMax = 1 << 42

// Began takes in the time to the first byte of an answer that flows: what
// serving took, however long the answer lasts.
func (p *Pool) Began(after time.Duration) { p.service.add(after) }

// Ended takes in one call that gave its slot back: how long it held it, and
// whether it was served, since what fails at once says nothing about how long
// serving takes.
func (p *Pool) Ended(held time.Duration, served bool) {
	p.holding.Add(held)
	if served {
		p.service.add(held)
	}
	drift := p.Holding() - p.derivedFrom
	if drift > p.derivedFrom>>6 || -drift > p.derivedFrom>>6 {
		p.derive()
	}
}

// Stretch returns how long it takes t, at its share of the pool, to get what
// the whole pool gets in d.
func (p *Pool) Stretch(t *Tenant, d time.Duration) time.Duration {
	if p.scheduler == nil {
		return d
	}
	weight := max(t.flow.Weight, 1)
	shares := (p.scheduler.Weight() + weight - 1) / weight
	return min(d, math.MaxInt64/time.Duration(shares)) * time.Duration(shares)
}

// Correct settles a request's true cost with its tenant's account.
func (p *Pool) Correct(t *Tenant, d unit.Cost) {
	if p.scheduler != nil && d != 0 {
		p.scheduler.Correct(&t.flow, d)
	}
}

// Allot changes how many slots are guaranteed and how many more may be borrowed,
// without a change of the configuration, and sizes the room by it.
func (p *Pool) Allot(own, borrow int) {
	p.allotted = true
	if own != p.own || borrow != p.borrow {
		p.Resize(own, borrow)
		p.derive()
	}
}

// Unallot gives the pool what it is configured to have again.
func (p *Pool) Unallot() {
	if p.allotted {
		p.allotted = false
		p.Resize(p.cfg.Slots, p.cfg.Borrow)
		p.derive()
	}
}

// derive sizes the room from what is configured and measured.
func (p *Pool) derive() {
	p.derivedFrom = p.Holding()
	slots := max(p.own, min(p.borrow, 1))
	p.interval, p.shortest = 0, 0
	if p.derivedFrom > 0 && slots > 0 {
		p.interval = max(p.derivedFrom/time.Duration(slots), 1)
		p.shortest = min(max(p.derivedFrom/time.Duration(p.Most()), 1), shortestMax)
	}
	in := plan.BoundInput{
		AllowedWait: p.AllowedWait(),
		Slots:       int64(slots),
		Holding:     p.derivedFrom,
		MemoryLimit: p.cfg.MemoryLimit,
		PerRequest:  p.cfg.PerRequest,
		Configured:  int64(p.cfg.Bound),
	}
	if p.cfg.Latency <= 0 {
		in.AllowedWait, in.Holding = math.MaxInt64, 0
	}
	p.bound, p.boundFrom = plan.Bound(in)
	p.patience, p.spare, p.maxAge = p.patienceOf(p.cfg.Order), math.MinInt64, p.cfg.MaxAge
	if p.cfg.ServeLate && p.cfg.Order == Adaptive {
		p.spare = p.derivedFrom / spareShare
	}
	p.bytesMax, p.bytesEach = math.MaxInt64, max(p.cfg.PerRequest, 0)
	if p.cfg.MemoryLimit > 0 {
		p.bytesMax = p.cfg.MemoryLimit
	}
	p.bytesEach = min(p.bytesEach, p.bytesMax, chargeMax) // one may wait, whatever is configured
	// A producer may be held before a room that is full; it is not refused
	// there for having its part of it already.
	p.queue = max(p.cfg.Tenants.Queue, 0)
	p.parted = p.scheduler != nil && p.queue == 0 && p.cfg.WhenFull != Block
}

// patienceOf returns the age of the oldest waiter beyond which the newest goes
// first.
func (p *Pool) patienceOf(order Order) time.Duration {
	allowed := p.AllowedWait()
	switch {
	case order == LIFO:
		return -1
	case order == FIFO || allowed == 0 || allowed > math.MaxInt64/deepBacklog:
		return math.MaxInt64
	}
	return deepBacklog * allowed
}

// Reconfigure applies a new configuration to a pool in use. What waits and
// runs stays; a room that is now too small empties by itself. One that says what
// the old one said changes nothing at all.
func (p *Pool) Reconfigure(cfg Config) {
	old := p.cfg
	if (p.allotted || p.own == cfg.Slots && p.borrow == cfg.Borrow) && old.says() == cfg.says() {
		return
	}
	p.cfg = cfg
	if !p.allotted {
		p.Resize(cfg.Slots, cfg.Borrow)
	}
	p.Tenants.cfg = cfg.Tenants
	for _, t := range p.known { // order does not matter: each tenant is set by itself
		p.configure(t, p.scheduler)
	}
	if cfg.Tenants.Policy != old.Tenants.Policy || cfg.levels() != old.levels() || cfg.RetriesLast != old.RetriesLast {
		p.rebuild()
	}
	p.Trim()
	p.derive()
}

// says renders the configuration, the same for all that say the same.
func (c Config) says() string { return fmt.Sprintf("%+v", c) } // maps are printed in order

// rebuild lines everybody who waits up again, in the order of arrival, under
// the scheduler and the levels of the configuration.
func (p *Pool) rebuild() {
	var waiting []*Item
	for it := p.Oldest(); it != nil; it = p.Oldest() {
		waiting = append(waiting, it)
		p.Remove(it)
	}
	level := p.relevel()
	p.scheduler = fair.New(p.cfg.Tenants.Policy)
	p.Tenants.levels = p.cfg.levels()
	for _, t := range p.known { // order does not matter: each tenant is set by itself
		t.flow.Forget()
		t.levels = p.Tenants.newLevels()
	}
	for _, it := range waiting {
		it.Importance = level(it.Importance)
		p.Enter(it)
	}
	for it := p.blocked.head; it != nil; it = it.links[byBlocked].next {
		it.Importance = level(it.Importance)
	}
}

// Check returns what is wrong with the room's accounts.
func (p *Pool) Check() error {
	var n int
	var bytes int64
	for i := range p.Room.levels {
		n += p.Room.levels[i].len
		bytes += p.Room.levels[i].bytes
	}
	tenants, idle := 0, 0
	for _, t := range p.known { // order does not matter: a sum
		tenants += t.queue[0].len
		if t.idle {
			idle++
			if t.busy() {
				return fmt.Errorf("tenant %q is busy and filed among the idle", t.Name)
			}
		}
	}
	switch {
	case n != p.waiting || bytes != p.bytes:
		return fmt.Errorf("levels hold %d waiters, %d bytes; the room counts %d, %d", n, bytes, p.waiting, p.bytes)
	case tenants != p.waiting:
		return fmt.Errorf("tenants hold %d waiters; the room counts %d", tenants, p.waiting)
	case p.waiting == 0 && p.blocked.len > 0:
		return fmt.Errorf("%d producers are blocked before an empty room", p.blocked.len)
	case idle != p.idle || p.idle > p.keep():
		return fmt.Errorf("%d tenants are idle, %d are counted, %d may be kept", idle, p.idle, p.keep())
	}
	return nil
}
