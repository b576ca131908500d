package boundary

import (
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/tally"
	"github.com/spillway-dev/spillway/policy/unit"
)

// The events of a machine with a shadow. Each is the machine's own where it is
// about a request that is decided in earnest.

func (s *shadow) offer(now unit.Instant, r *Request, out *Effects) Verdict {
	now = s.enter(now, out)
	defer s.leave()
	m := s.m
	c := m.classes[r.Class]
	if m.draining || c.closed || now < c.byHand.Until || c.decides(m.seed, r) {
		from := len(out.List)
		v := m.Offer(now, r, out)
		s.sift(from, out)
		return v
	}
	t := c.Get(r.Tenant)
	if c.shadow == nil {
		c.shadow = new(tally.Shadow)
	}
	if t.Shadow == nil {
		t.Shadow = new(tally.Shadow)
	}
	t.Kept++ // while the machine decides
	v := Verdict{Decision: Decision{Kind: Run}}
	if c.Mode.Kind == Off {
		h := s.open(s.apart(c, t, r), c, t, Verdict{Deadline: unit.Never})
		v.Ticket, v.Deadline = h.ticket, unit.Never
	} else {
		v = s.decide(now, c, t, r, out)
	}
	t.Kept--
	c.Settle(t)
	return v
}

// decide has the machine decide about a request that runs whatever it says.
func (s *shadow) decide(now unit.Instant, c *class, t *pool.Tenant, r *Request, out *Effects) Verdict {
	m, from := s.m, len(out.List)
	s.deciding = true
	v := m.Offer(now, r, out)
	s.deciding = false
	it := m.find(v.Ticket)
	if v.Kind == Refuse {
		it = s.apart(c, t, r)
	}
	h := s.open(it, c, t, v)
	h.would.offer()
	switch v.Kind {
	case Refuse:
		h.would.answer(v.Reason)
	case Wait:
		h.would.count(pool.Waiting, +1)
	case Run:
		h.would.count(pool.Running, +1)
		s.schedule(h)
	}
	s.sift(from, out)
	return Verdict{Decision: Decision{Run, v.Reason}, Ticket: h.ticket, Deadline: unit.Never, RetryAfter: v.RetryAfter}
}

// Would returns what the machine decided, when it was offered, about a request
// that runs whatever it decided, and that has not ended. It reports false for
// any other, and for one of a class that is off.
func (m *Machine) Would(t Ticket) (Verdict, bool) {
	if m.shadow == nil {
		return Verdict{}, false
	}
	h := m.shadow.at(t)
	if h == nil || h.said.Deadline == unit.Never {
		return Verdict{}, false
	}
	return h.said, true
}

// Undecided returns how many twins still wait or run: their requests may have
// ended long since.
func (m *Machine) Undecided() int {
	if m.shadow == nil {
		return 0
	}
	n := 0
	for _, h := range m.shadow.shades {
		if h != nil && h.ticket != 0 && h.item.State != pool.Apart {
			n++
		}
	}
	return n
}

func (s *shadow) done(now unit.Instant, t Ticket, o Outcome, out *Effects) {
	now = s.enter(now, out)
	defer s.leave()
	h := s.at(t)
	if h == nil {
		s.pass(out, func() { s.m.Done(now, t, o, out) })
		return
	}
	if h.state == pool.Free {
		s.m.bug("done: ticket %x does not run", uint64(t))
		return
	}
	s.ended(now, h, o, out)
	s.upTo(now, out)
}

// pass lets the machine handle an event about a request that it decided in
// earnest.
func (s *shadow) pass(out *Effects, event func()) {
	from := len(out.List)
	event()
	s.sift(from, out)
}

// ended notes that the work of a request has really ended.
func (s *shadow) ended(now unit.Instant, h *shade, o Outcome, out *Effects) {
	why := s.m.known(o.Reason)
	if o.Reason != reason.None {
		o.Reason = why
	}
	h.real.count(h.state, -1)
	if h.state == pool.Running {
		h.real.answer(why)
	}
	h.state, h.service, h.outcome = pool.Free, now.Sub(h.began), o
	switch {
	case h.item.State == pool.Apart:
		s.over(h)
	case o.Reason == reason.None || o.Reason == reason.CallerGone:
		s.gone(h, out)
	default:
		s.schedule(h)
	}
}

func (s *shadow) left(now unit.Instant, t Ticket, out *Effects) {
	now = s.enter(now, out)
	defer s.leave()
	h := s.at(t)
	switch {
	case h == nil:
		s.pass(out, func() { s.m.Leave(now, t, out) })
	case h.state != pool.Free:
		s.ended(now, h, Outcome{Reason: reason.None}, out)
	}
}

func (s *shadow) answered(now unit.Instant, t Ticket, out *Effects) {
	now = s.enter(now, out)
	defer s.leave()
	h := s.at(t)
	switch {
	case h == nil:
		s.pass(out, func() { s.m.Answered(now, t, out) })
	case h.state == pool.Running && h.first == unknown:
		h.first = now.Sub(h.began)
		s.schedule(h)
		s.upTo(now, out)
	}
}

func (s *shadow) abandoned(now unit.Instant, t Ticket, why reason.Reason, out *Effects) {
	now = s.enter(now, out)
	defer s.leave()
	h := s.at(t)
	switch {
	case h == nil:
		s.pass(out, func() { s.m.Abandon(now, t, why, out) })
		return
	case h.state != pool.Running:
		return
	}
	known := s.m.known(why)
	h.real.count(pool.Running, -1)
	h.real.count(pool.Abandoned, +1)
	h.real.answer(known)
	h.state = pool.Abandoned
	if known != reason.CallerGone {
		h.limit = now.Sub(h.began)
		s.schedule(h)
		s.upTo(now, out)
		return
	}
	switch h.item.State {
	case pool.Waiting, pool.Blocked:
		s.leaves(h, out)
	case pool.Running:
		s.gives(h, known, out)
	case pool.Streaming:
		s.ends(h, Outcome{Reason: known}, out)
	}
}

func (s *shadow) advanced(now unit.Instant, out *Effects) {
	s.enter(now, out)
	s.leave()
}

func (s *shadow) drained(now unit.Instant, out *Effects) {
	now = s.enter(now, out)
	defer s.leave()
	s.pass(out, func() { s.m.Drain(now, out) })
}

func (s *shadow) reconfigured(now unit.Instant, cfg Config, out *Effects) (err error) {
	now = s.enter(now, out)
	defer s.leave()
	s.pass(out, func() { err = s.m.Reconfigure(now, cfg, out) })
	return err
}

func (s *shadow) imported(now unit.Instant, mem Memory, out *Effects) {
	now = s.enter(now, out)
	defer s.leave()
	s.pass(out, func() { s.m.Import(now, mem, out) })
}

func (s *shadow) pressed(now unit.Instant, level float64, out *Effects) {
	now = s.enter(now, out)
	defer s.leave()
	s.pass(out, func() { s.m.Press(now, level, out) })
}

func (s *shadow) lingers(now unit.Instant, t Ticket, out *Effects) {
	now = s.enter(now, out)
	defer s.leave()
	h := s.at(t)
	switch {
	case h == nil:
		s.pass(out, func() { s.m.Linger(now, t, out) })
	case h.state == pool.Running && h.first != unknown:
		h.lingers = now.Sub(h.began)
		s.schedule(h)
		s.upTo(now, out)
	}
}

// passing begins an event about a request that is decided in earnest, and returns
// what ends it.
func (s *shadow) passing(now unit.Instant, out *Effects) (end func()) {
	s.enter(now, out)
	from := len(out.List)
	return func() {
		s.sift(from, out)
		s.leave()
	}
}
