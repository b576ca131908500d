package boundary

import (
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// sift takes the effects from that place on which are about twins out of the
// list, and gives them to the twins.
func (s *shadow) sift(from int, out *Effects) {
	kept := out.List[:from]
	for _, f := range out.List[from:] {
		if h := s.at(f.Ticket); h != nil {
			s.take(h, f)
		} else {
			kept = append(kept, f)
		}
	}
	out.List = kept
}

// take enters what the machine did with a twin, which has happened already.
func (s *shadow) take(h *shade, f Effect) {
	switch f.Kind {
	case Run:
		h.would.count(pool.Waiting, -1)
		h.would.count(pool.Running, +1)
		s.schedule(h)
	case Refuse:
		h.would.count(pool.Waiting, -1)
		h.would.answer(f.Reason)
		s.over(h)
	case Overdue:
		h.would.count(pool.Running, -1)
		h.would.count(pool.Abandoned, +1)
		h.would.answer(f.Reason)
		h.cut = h.class.Call.Cancel
		s.schedule(h)
	case Released:
		h.would.count(pool.Abandoned, -1)
		s.over(h)
	}
}

// schedule sets when the twin is told next what happened to the real one. A
// twin that waits is told nothing: when it will get its slot is not known.
func (s *shadow) schedule(h *shade) {
	it, next := h.item, unit.Never
	held := h.works()
	if it.State == pool.Running && it.Flowing && h.lingers != unknown {
		next = min(next, it.Started.Add(h.lingers))
	}
	if it.State == pool.Running && !it.Flowing {
		if h.first != unknown {
			next = min(next, it.Started.Add(h.first))
		}
		if h.limit > 0 {
			next = min(next, it.Started.Add(h.limit))
		}
	}
	switch {
	case held && h.cut:
		next = s.m.now
	case held && h.service != unknown:
		next = min(next, it.Started.Add(h.service))
	}
	s.due.Set(&h.due, next)
}

// tell tells the twin what is due by now: of one instant that its answer
// begins, then that its work ends, then that its call takes too long.
func (s *shadow) tell(h *shade, out *Effects) {
	m, it := s.m, h.item
	held := m.now.Sub(it.Started)
	begins := it.State == pool.Running && !it.Flowing
	switch {
	case begins && h.first != unknown && held >= h.first:
		s.pass(out, func() { m.Answered(m.now, h.ticket, out) })
		s.schedule(h)
	case it.State == pool.Running && it.Flowing && h.lingers != unknown && held >= h.lingers:
		h.lingers = unknown // it may come again
		s.pass(out, func() { m.Linger(m.now, h.ticket, out) })
		s.schedule(h)
	case h.cut:
		s.ends(h, Outcome{Reason: reason.Timeout}, out)
	case h.service != unknown && held >= h.service:
		s.ends(h, h.outcome, out)
	case begins && h.limit > 0 && held >= h.limit && h.class.Call.Cancel:
		s.ends(h, Outcome{Reason: reason.Timeout}, out)
	case begins && h.limit > 0 && held >= h.limit:
		s.gives(h, reason.Timeout, out)
	default: // the machine has made a stream of it since
		if s.schedule(h); h.due.At() <= m.now {
			s.due.Strike(&h.due) // or it would be told for ever
			m.bug("twin %v is due and there is nothing to tell it", h.ticket)
		}
	}
}

// gone has the twin lose its caller, and its work.
func (s *shadow) gone(h *shade, out *Effects) {
	switch h.item.State {
	case pool.Waiting, pool.Blocked:
		s.leaves(h, out)
	case pool.Running, pool.Streaming, pool.Abandoned:
		s.ends(h, h.outcome, out)
	}
}

// ends ends the twin's work.
func (s *shadow) ends(h *shade, o Outcome, out *Effects) {
	h.would.count(h.item.State, -1)
	if h.item.State != pool.Abandoned {
		h.would.answer(s.m.known(o.Reason))
	}
	s.pass(out, func() { s.m.Done(s.m.now, h.ticket, o, out) })
	s.over(h)
}

// leaves has the twin's caller leave while it waits.
func (s *shadow) leaves(h *shade, out *Effects) {
	h.would.count(pool.Waiting, -1)
	h.would.answer(reason.CallerGone)
	s.pass(out, func() { s.m.Leave(s.m.now, h.ticket, out) })
	s.over(h)
}

// gives has the twin's caller answered, or leave, while its work goes on.
func (s *shadow) gives(h *shade, why reason.Reason, out *Effects) {
	h.would.count(pool.Running, -1)
	h.would.count(pool.Abandoned, +1)
	h.would.answer(why)
	s.pass(out, func() { s.m.Abandon(s.m.now, h.ticket, why, out) })
	s.schedule(h)
}
