package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/agenda"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/tally"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A request whose decision is not carried out lives twice. For its driver it
// runs from the moment at which it was offered until it has ended. In the
// machine it does what the machine decides: it runs, waits, or is refused, its
// twin so to speak, beside requests that really do. What comes of the twin is
// counted and never told to the driver; what happens to the real one is told to
// the twin, at the instant at which it would have happened to it:
//
//	the work ends, the answer begins    as long after the twin got its slot as
//	                                    after the real one got its own
//	the caller leaves                   at that instant
//
// The twin never gets its slot before the real one, so what it is told always
// lies ahead. A machine that decides everything in earnest has no shadow, and
// pays for it with one comparison an event.
type shadow struct {
	m        *Machine
	inside   bool // an event is being decided; its own events are not the driver's
	deciding bool // about a request that will live twice
	needed   bool // some class's decisions are not all carried out
	live     int
	due      agenda.Agenda[*shade]
	shades   []*shade // by Ticket.Index; nil where there never was one
}

// shade is what is kept of a request that lives twice.
type shade struct {
	ticket Ticket // of both; 0 when this stands for no request
	item   *pool.Item
	class  *class
	tenant *pool.Tenant
	would  pair // accounts of the twin
	real   pair // accounts of the real one

	began   unit.Instant  // really
	state   pool.State    // really: running, abandoned, or free once it has ended
	first   time.Duration // until the answer began
	lingers time.Duration // until it kept only its caller busy, if the twin is to be told
	service time.Duration
	outcome Outcome       // once it has ended
	limit   time.Duration // of the call; 0: none
	cut     bool          // the twin's call ends with its caller's answer, now
	said    Verdict       // what the machine decided when it was offered

	due agenda.Entry[*shade] // when the twin is told something next
}

// unknown is a time that has not been seen yet.
const unknown time.Duration = -1

// pair is a request's account in its class and in its tenant.
type pair [2]*tally.Tally

func (p pair) count(s pool.State, n int64) {
	for _, t := range p {
		count(t, s, n)
	}
}

func count(t *tally.Tally, s pool.State, n int64) {
	switch s {
	case pool.Blocked, pool.Waiting, pool.Reserving:
		t.Waiting += n
	case pool.Running, pool.Streaming:
		t.Running += n
	case pool.Abandoned:
		t.Abandoned += n
	}
}

// works reports whether a twin's work goes on.
func (h *shade) works() bool {
	s := h.item.State
	return s == pool.Running || s == pool.Streaming || s == pool.Abandoned
}

func (p pair) offer() {
	for _, t := range p {
		t.Offered++
	}
}

func (p pair) answer(why reason.Reason) {
	for _, t := range p {
		t.Answered[why]++
	}
}

// cast gives the machine a shadow where its configuration asks for one, and
// lets classes that are off give their slots back.
func (m *Machine) cast() {
	needed := false
	for _, c := range m.classes {
		needed = needed || c.Mode.Enforced() < chance.Whole && !c.closed
		if c.Mode.Kind == Off {
			m.retire(c)
		}
	}
	if needed && m.shadow == nil {
		m.shadow = &shadow{m: m}
	}
	if m.shadow != nil {
		m.shadow.needed = needed
	}
}

// casts reports whether an event is to go through the shadow.
func (m *Machine) casts() bool { return m.shadow != nil && !m.shadow.inside }

// enter brings the machine up to an event's instant.
func (s *shadow) enter(now unit.Instant, out *Effects) unit.Instant {
	s.inside = true
	return s.upTo(now, out)
}

// leave ends an event.
func (s *shadow) leave() {
	s.inside = false
	if s.live == 0 && !s.needed {
		s.m.shadow = nil
	}
}

// upTo lets happen what was due by now, to real requests and to twins, in the
// order of the instants at which it was due; of one instant what the machine
// does by itself comes first, as it does before every event of a driver's.
func (s *shadow) upTo(now unit.Instant, out *Effects) unit.Instant {
	m := s.m
	for {
		at := min(m.nextDue(), s.due.Next())
		if at > now {
			break
		}
		if m.nextDue() == at {
			from := len(out.List)
			m.catchUp(at, out)
			s.sift(from, out)
			continue
		}
		e := s.due.Pop(at)
		m.now = max(m.now, at)
		s.tell(e.Item, out)
	}
	m.now = max(m.now, now)
	return m.now
}

// at returns the shade of the request with that ticket, or nil.
func (s *shadow) at(t Ticket) *shade {
	if i := t.Index(); t != 0 && i < len(s.shades) && s.shades[i] != nil && s.shades[i].ticket == t {
		return s.shades[i]
	}
	return nil
}

// open begins a second life for the request of an item.
func (s *shadow) open(it *pool.Item, c *class, t *pool.Tenant, v Verdict) *shade {
	i := Ticket(it.Ticket).Index()
	for i >= len(s.shades) {
		s.shades = append(s.shades, nil)
	}
	h := s.shades[i]
	if h == nil {
		h = new(shade)
		h.due.Item = h
		s.shades[i] = h
	}
	h.ticket, h.item, h.class, h.tenant = Ticket(it.Ticket), it, c, t
	h.would = pair{&c.shadow.Would, &t.Shadow.Would}
	h.real = pair{&c.shadow.Real, &t.Shadow.Real}
	h.began, h.state = s.m.now, pool.Running
	h.first, h.lingers, h.service, h.limit = unknown, unknown, unknown, max(c.Call.Timeout, 0)
	h.outcome, h.cut, h.said = Outcome{}, false, v
	s.live++
	t.Kept++
	h.real.offer()
	h.real.count(pool.Running, +1)
	return h
}

// keeps reports whether the request of an item that the machine is done with
// lives on elsewhere, and then keeps its ticket.
func (s *shadow) keeps(it *pool.Item) bool {
	if s.at(Ticket(it.Ticket)) == nil {
		return false
	}
	it.State = pool.Apart
	return true
}

// over ends the twin, and the request if its work has ended too.
func (s *shadow) over(h *shade) {
	s.due.Strike(&h.due)
	if h.state != pool.Free {
		return
	}
	c, t := h.class, h.tenant
	h.ticket = 0
	s.live--
	s.m.void(h.item)
	h.item, h.class, h.tenant = nil, nil, nil
	t.Kept--
	c.Settle(t)
}

// apart makes a record of a request that runs and that the machine has refused,
// or was not asked about.
func (s *shadow) apart(c *class, t *pool.Tenant, r *Request) *pool.Item {
	it := s.m.record()
	s.m.seq++
	it.Seq, it.Class, it.Tenant = s.m.seq, c.index, t
	it.Offered, it.Started, it.Deadline = s.m.now, s.m.now, unit.Never
	it.State, it.Flowing = pool.Apart, false
	it.Importance, it.Bytes = c.Level(r.Importance, r.Retry), c.Charge(r.Bytes)
	return it
}

// next is Machine.Next of a machine with a shadow.
func (s *shadow) next() unit.Instant { return min(s.m.nextDue(), s.due.Next()) }
