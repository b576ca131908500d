package boundary

import (
	"fmt"

	"github.com/spillway-dev/spillway/policy/agenda"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/tally"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Machine is the boundary of one resource.
type Machine struct {
	name    string
	classes []*class // by index
	order   []*class // in which they come for free slots
	byName  map[string]*class
	limiter limit.Limiter // nil where the limit is fixed
	limits  limit.Config  // what it was made of
	limit   int           // what it says, or what is guaranteed; less, under pressure
	used    int           // slots held, over all classes
	waiting int           // in rooms, over all classes
	short   int           // how many classes are short of slots; see idle.go

	now      unit.Instant // the latest instant seen
	changes  uint64       // counts what another verdict may come of; see standing.go
	seq      uint64
	due      agenda.Agenda[*pool.Item]
	items    []*pool.Item // by Ticket.Index
	free     []uint32     // indices of items that stand for no request
	chance   chance.Source
	wall     unit.Instant         // what the calendar said at the instant 0
	budgets  map[string]*reckoned // that all go by, by name; found by it, never gone through
	draining bool

	shadow  *shadow // nil while every decision is carried out
	seed    uint64
	clients *rate.Table // nil while nobody is limited
	rule    rate.Rule   // of classes that have none of their own

	strict bool
	bugs   int64

	idled   uint64       // idle slots x ns while any class was short
	idledTo unit.Instant // up to when

	pressure limit.Pressure
	lapses   unit.Instant // when that is forgotten
	squeezed bool         // fixed slots are less than is configured
}

// class is a pool with the rules of its boundary and its account.
type class struct {
	*pool.Pool
	Class
	shortage
	sole     *pool.Tenant // the tenant ""
	rule     pool.WhenFull
	index    int
	tally    tally.Tally
	calendar unit.Instant // the next instant promised to a refused request
	byHand   byHand       // what an operator has switched it to
	streams  int          // answers that flow without a slot
	closed   bool         // no longer configured: takes in nothing, drains
	law      *shed.Law    // nil where it does not shed
	quota    *reckoning   // nil where there is none
	asking   int          // how many are being reserved for
	shadow   *tally.Shadow
	budget   uint64 // of clients, where the class has a rule of its own
}

// New returns the machine for a configuration, or the configuration's faults.
func New(cfg Config) (*Machine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	m := &Machine{name: cfg.Name, changes: 1, chance: chance.New(cfg.Seed), wall: cfg.Wall, lapses: unit.Never, seed: cfg.Seed, strict: cfg.Strict, byName: make(map[string]*class, len(cfg.Classes))}
	for i := range cfg.Classes {
		m.open(cfg.Classes[i])
	}
	m.line(cfg)
	m.adapt(&cfg)
	m.relimit()
	m.limitClients(&cfg)
	m.cast()
	return m, nil
}

func (m *Machine) open(cfg Class) {
	p := pool.New(cfg.pool())
	c := &class{
		Pool:   p,
		sole:   p.Get(""),
		Class:  cfg.WithDefaults(),
		rule:   cfg.Pool.WhenFull,
		index:  len(m.classes),
		budget: chance.Key(cfg.Name),
	}
	c.relaw(m.seed)
	m.requota(m.now, c)
	m.classes = append(m.classes, c)
	m.byName[c.Name] = c
}

// ebbs reports whether the class's slots are given back once it has drained:
// nothing new will need them.
func (c *class) ebbs() bool { return c.closed || c.Mode.Kind == Off }

// empty reports whether nobody waits and nothing runs.
func (c *class) empty() bool { return c.Used()+c.Waiting()+c.Blocked() == 0 }

// drained reports whether the class has given its slots back, or is to.
func (c *class) drained() bool { return c.ebbs() && c.empty() }

// retire gives back what a class that ebbs was guaranteed, once it has drained.
func (m *Machine) retire(c *class) {
	if c.Own() > 0 && c.empty() {
		c.Resize(0, 0)
		c.turned = false
		m.weigh(c)
		m.relimit()
	}
}

// relimit sets the resource's limit to what its classes are guaranteed, or them to
// what was found that it can be.
func (m *Machine) relimit() {
	if m.limiter != nil {
		m.share()
		return
	}
	m.unsqueeze()
	sum := 0
	for _, c := range m.classes {
		sum += c.Own()
	}
	if sum == 0 {
		for _, c := range m.classes { // borrowers alone have nobody to borrow from
			sum = max(sum, c.Most())
		}
	}
	m.accrue() // under the limit that it had
	m.limit = m.pressure.Of(limit.Fixed(sum).Limit())
	m.squeeze(sum)
}

// Next returns the earliest instant at which the machine would do something
// by itself, or Never.
func (m *Machine) Next() unit.Instant {
	if m.shadow != nil {
		return m.shadow.next()
	}
	return m.nextDue()
}

// Bugs returns how many broken invariants were met: events about requests that
// have ended (a permit finished twice) and everything that Check would find. It
// is 0 in a correct program.
func (m *Machine) Bugs() int64 { return m.bugs }

// bug records a broken invariant: it panics in tests and simulation, and is
// counted live, where a guard must not be what takes a service down.
func (m *Machine) bug(format string, a ...any) {
	m.bugs++
	if m.strict {
		panic("BUG: boundary: " + fmt.Sprintf(format, a...))
	}
}

// record returns a fresh item with a ticket.
func (m *Machine) record() *pool.Item {
	if n := len(m.free); n > 0 {
		it := m.items[m.free[n-1]]
		m.free = m.free[:n-1]
		return it
	}
	it := &pool.Item{Ticket: 1<<32 | uint64(len(m.items))}
	it.Due.Item = it
	m.items = append(m.items, it)
	return it
}

// find returns the item that the ticket names, or nil.
func (m *Machine) find(t Ticket) *pool.Item {
	if i := t.Index(); i < len(m.items) {
		if it := m.items[i]; it.Ticket == uint64(t) && it.State != pool.Free {
			return it
		}
	}
	return nil
}

// forget voids the item's ticket and makes it free for another request.
func (m *Machine) forget(it *pool.Item) {
	m.due.Strike(&it.Due)
	if it.Client != 0 {
		m.release(it)
	}
	if m.shadow == nil || !m.shadow.keeps(it) {
		m.void(it)
	}
}

func (m *Machine) void(it *pool.Item) {
	index := uint32(it.Ticket)
	it.State, it.Tenant, it.Ask = pool.Free, nil, nil
	it.Ticket += 1 << 32
	if it.Ticket>>32 == 0 {
		it.Ticket += 1 << 32 // the zero ticket names none
	}
	m.free = append(m.free, index)
}
