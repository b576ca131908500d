package boundary

import (
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/tally"
	"github.com/spillway-dev/spillway/policy/unit"
)

// answer enters a reason into the accounts.
func (m *Machine) answer(it *pool.Item, why reason.Reason) {
	m.classes[it.Class].tally.Answered[why]++
	it.Tenant.Tally.Answered[why]++
}

// count enters a change of state into the accounts.
func (m *Machine) count(it *pool.Item, s pool.State, n int64) {
	c, t := &m.classes[it.Class].tally, &it.Tenant.Tally
	switch s {
	case pool.Waiting:
		c.Waiting += n
		t.Waiting += n
	case pool.Running:
		c.Running += n
		t.Running += n
	case pool.Abandoned:
		c.Abandoned += n
		t.Abandoned += n
	}
}

// ClassState is what there is to see of a class.
type ClassState struct {
	Name  string
	Tally tally.Tally

	// Limit is that of the resource, the same for all of its classes; Slots are then
	// the class's part of it.
	Limit limit.State

	Slots, Borrow, Used int
	Streams             int // answers that flow without a slot
	Waiting, Blocked    int
	WaitingBytes        int64
	Bound               int
	BoundFrom           string
	AllowedWait         time.Duration
	Holding             time.Duration // mean time a slot is held; 0 if unknown
	ServiceTime         time.Duration // what almost every call takes; 0 if unknown
	ThroughputPerS      float64       // slots / holding; 0 if unknown
	OldestWait          time.Duration // age of the oldest waiter
	Tenants             int           // remembered
	Removed             bool          // no longer configured: it drains, or has
	Operator            OperatorMode  // what it is switched to by hand
	OperatorLeft        time.Duration // for how long still; 0 if it is not
	Shed                *shed.State   // what its law found; nil where it does not shed
	// IdleWhileRefusing is how long slots of the resource were idle that the class
	// might not use while it held all that it might and let wait, or refused, for
	// want of one: in slots x time, so two idle slots for a second are two seconds.
	// It is the policy's account: of a class in shadow, what would have been. It stops
	// growing at 292 years.
	IdleWhileRefusing time.Duration

	// Mode is which decisions are carried out. Where they are not all, or were
	// not once, Shadow is what the policy made of all that it was asked about;
	// all of the above but what is configured or measured is what really
	// happened.
	Mode   Mode
	Shadow *ShadowState
}

// Classes returns the number of classes.
func (m *Machine) Classes() int { return len(m.classes) }

// Class returns the state of class i as of the latest event.
func (m *Machine) Class(i int) ClassState {
	c := m.classes[i]
	c.book()
	s := ClassState{
		Name:         c.Name,
		Tally:        c.tally,
		Slots:        c.Own(),
		Borrow:       c.Most() - c.Own(),
		Limit:        m.Limit(),
		Used:         c.Used(),
		Streams:      c.streams,
		Waiting:      c.Waiting(),
		Blocked:      c.Blocked(),
		WaitingBytes: c.Bytes(),
		Bound:        c.Bound(),
		BoundFrom:    c.BoundFrom().String(),
		AllowedWait:  c.AllowedWait(),
		Holding:      c.Holding(),
		ServiceTime:  c.ServiceTime(),
		Tenants:      c.Len(),
		Removed:      c.closed,

		IdleWhileRefusing: m.IdleWhileRefusing(i, m.now),
	}
	if o := c.byHand; o.on(m.now) {
		s.Operator, s.OperatorLeft = o.Mode, o.Until.Sub(m.now)
	}
	if h := s.Holding; h > 0 {
		s.ThroughputPerS = float64(s.Slots) * float64(time.Second) / float64(h)
	}
	if it := c.Oldest(); it != nil {
		s.OldestWait = m.now.Sub(it.Offered)
	}
	if c.law != nil {
		law := c.law.State()
		s.Shed = &law
	}
	s.Mode = c.Mode
	m.real(c, &s)
	return s
}

// TenantState is what there is to see of a tenant in a class.
type TenantState struct {
	Name   string
	Weight int64
	Tally  tally.Tally
	Shadow *tally.Tally // what the policy made of its requests, if that was not all carried out
}

// Tenants returns the remembered tenants of class i, by name, and the account
// of those that were forgotten.
func (m *Machine) Tenants(i int) (known []TenantState, forgotten tally.Tally) {
	c := m.classes[i]
	c.book()
	c.Each(func(t *pool.Tenant) {
		known = append(known, realTenant(t))
	})
	sort.Slice(known, func(a, b int) bool { return known[a].Name < known[b].Name })
	return known, c.ForgottenShadow.Happened(&c.Forgotten)
}

// ItemState is what there is to see of one request.
type ItemState struct {
	Ticket              Ticket
	State               string
	Class, Tenant       string
	Importance          int
	Offered, Deadline   unit.Instant
	Started             unit.Instant // if running or abandoned
	Bytes               int64
	Age, Held, TimeLeft time.Duration
	// Shadow says where the request would be that runs whatever is decided of
	// it; "" for any other.
	Shadow string
}

// Items returns up to most requests of class i that wait or hold a slot, in
// the order in which they were offered. It takes time in proportion to the
// machine's size and is for people to look at.
func (m *Machine) Items(i, most int) []ItemState {
	var found []*pool.Item
	for _, it := range m.items {
		if it.State != pool.Free && it.Class == i {
			found = append(found, it)
		}
	}
	sort.Slice(found, func(a, b int) bool { return found[a].Seq < found[b].Seq })
	states := make([]ItemState, 0, min(len(found), most))
	for _, it := range found {
		if len(states) == most {
			break
		}
		s := ItemState{
			Ticket: Ticket(it.Ticket), State: it.State.String(),
			Class: m.classes[i].Name, Tenant: it.Tenant.Name, Importance: m.classes[i].Importance(it.Importance),
			Offered: it.Offered, Deadline: it.Deadline, Bytes: it.Bytes,
			Age: m.now.Sub(it.Offered), TimeLeft: it.Deadline.Sub(m.now),
		}
		if it.State == pool.Running || it.State == pool.Abandoned || it.State == pool.Streaming {
			s.Started, s.Held = it.Started, m.now.Sub(it.Started)
		}
		if m.shadow != nil {
			if h := m.shadow.at(s.Ticket); h != nil && !m.shadow.realItem(h, &s) {
				continue
			}
		}
		states = append(states, s)
	}
	return states
}

// Check returns everything that is wrong with the machine's accounts and
// state. It takes time in proportion to the machine's size.
func (m *Machine) Check() error {
	var errs []error
	fault := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	used, waiting := 0, 0
	states := make([][pool.Reserving + 1]int64, len(m.classes))
	free, dated := 0, 0
	for _, it := range m.items {
		if it.State == pool.Free {
			free++
		} else {
			states[it.Class][it.State]++
		}
		if it.Due.On() {
			dated++
			if it.State == pool.Free || it.State == pool.Streaming {
				fault("%v %v is on the agenda", it.State, Ticket(it.Ticket))
			}
		} else if it.State == pool.Waiting || it.State == pool.Blocked {
			fault("%v %v is not on the agenda", it.State, Ticket(it.Ticket))
		}
	}
	if free != len(m.free) || dated != m.due.Len() {
		fault("%d items are free and %d on the agenda, %d and %d are counted", free, dated, len(m.free), m.due.Len())
	}
	if at := m.due.Next(); at < m.now {
		fault("what was due at %v has not happened at %v", at, m.now)
	}
	for _, c := range m.classes {
		c.book()
		used += c.Used()
		waiting += c.Waiting()
		if err := c.tally.Check(); err != nil {
			fault("class %s: %w", c.Name, err)
		}
		sum := c.Forgotten
		c.Each(func(t *pool.Tenant) {
			if err := t.Tally.Check(); err != nil {
				fault("class %s: tenant %q: %w", c.Name, t.Name, err)
			}
			sum.Add(&t.Tally)
		})
		if err := c.checkShadow(); err != nil {
			errs = append(errs, err)
		}
		if sum != c.tally {
			fault("class %s: its tenants' accounts add up to %+v, its own is %+v", c.Name, sum, c.tally)
		}
		s := states[c.index]
		if s[pool.Waiting] != int64(c.Waiting()) || s[pool.Blocked] != int64(c.Blocked()) ||
			s[pool.Waiting]+s[pool.Blocked]+s[pool.Reserving] != c.tally.Waiting ||
			s[pool.Running]+s[pool.Streaming] != c.tally.Running || s[pool.Streaming] != int64(c.streams) || s[pool.Abandoned] != c.tally.Abandoned ||
			s[pool.Running]+s[pool.Abandoned]+s[pool.Reserving] != int64(c.Used()) {
			fault("class %s: items by state %v, room %d+%d, slots used %d, account %+v",
				c.Name, s, c.Waiting(), c.Blocked(), c.Used(), c.tally)
		}
		if err := m.checkDry(c, s[pool.Reserving]); err != nil {
			errs = append(errs, err)
		}
		if err := c.Pool.Check(); err != nil {
			fault("class %s: %w", c.Name, err)
		}
	}
	if m.shadow != nil {
		errs = append(errs, m.shadow.check())
	}
	errs = append(errs, m.checkShort())
	if used != m.used || waiting != m.waiting {
		fault("classes use %d slots and hold %d waiters, the resource counts %d and %d", used, waiting, m.used, m.waiting)
	}
	if m.used < m.limit {
		if c := m.needy(); c != nil {
			fault("class %s has %d waiters beside a free slot", c.Name, c.Waiting())
		}
	}
	return errors.Join(errs...)
}
