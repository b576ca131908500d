package boundary

import (
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/tally"
	"github.com/spillway-dev/spillway/policy/unit"
)

// ShadowState is what a class's policy made of all that it was asked about,
// whether or not that was carried out: what would be, were the class in mode
// enforce.
type ShadowState struct {
	Tally            tally.Tally
	Used             int
	Waiting, Blocked int
	WaitingBytes     int64
	OldestWait       time.Duration
}

// real turns the policy's state of a class, which it keeps as Shadow, into what
// really is. A twin that waits is in nobody's way.
func (m *Machine) real(c *class, s *ClassState) {
	if c.Mode.Kind == Off && !c.closed { // its slots are given back, and it is to have them
		s.Slots, s.Borrow = c.Config().Slots, c.Config().Borrow
	}
	if c.shadow == nil {
		return
	}
	s.Shadow = &ShadowState{s.Tally, s.Used, s.Waiting, s.Blocked, s.WaitingBytes, s.OldestWait}
	would, real := &c.shadow.Would, &c.shadow.Real
	s.Tally = c.shadow.Happened(&c.tally)
	streams := m.shadow.streams(c)
	s.Streams -= streams
	s.Used += streams + int(real.Running+real.Abandoned-would.Running-would.Abandoned)
	if would.Waiting == 0 {
		return
	}
	s.OldestWait = 0
	for _, it := range m.items {
		if it.Class != c.index || it.State != pool.Waiting && it.State != pool.Blocked {
			continue
		}
		switch twin := m.shadow.at(Ticket(it.Ticket)) != nil; {
		case !twin && it.State == pool.Waiting:
			s.OldestWait = max(s.OldestWait, m.now.Sub(it.Offered))
		case !twin:
		case it.State == pool.Blocked:
			s.Blocked--
		default:
			s.Waiting--
			s.WaitingBytes -= it.Bytes
		}
	}
}

// streams returns how many twins of a class flow without a slot.
func (s *shadow) streams(c *class) int {
	if s == nil || c.streams == 0 {
		return 0
	}
	n := 0
	for _, h := range s.shades {
		if h != nil && h.ticket != 0 && h.class == c && h.item.State == pool.Streaming {
			n++
		}
	}
	return n
}

// realTenant does the same for a tenant.
func realTenant(t *pool.Tenant) TenantState {
	s := TenantState{Name: t.Name, Weight: t.Weight(), Tally: t.Tally}
	if t.Shadow != nil {
		policy := t.Tally
		s.Tally, s.Shadow = t.Shadow.Happened(&policy), &policy
	}
	return s
}

// realItem says of a request that lives twice how its work stands, and of the
// machine how its twin does. It reports false for one whose work has ended.
func (s *shadow) realItem(h *shade, i *ItemState) bool {
	i.Shadow = h.item.State.String()
	switch {
	case h.said.Kind == Refuse && h.item.State == pool.Apart && h.said.Reason != 0:
		i.Shadow = h.said.Decision.String()
	case h.item.State == pool.Apart:
		i.Shadow = "ended"
	}
	if h.item.State == pool.Apart {
		i.TimeLeft = 0
	}
	if h.said.Deadline == unit.Never {
		i.Shadow = "off"
	}
	i.State = h.state.String()
	i.Started, i.Held = h.began, s.m.now.Sub(h.began)
	return h.state != pool.Free
}

// String says what was decided.
func (d Decision) String() string {
	if d.Kind == Refuse {
		return fmt.Sprintf("refuse %v", d.Reason)
	}
	return d.Kind.String()
}

// check returns what is wrong with the second lives.
func (s *shadow) check() error {
	var errs []error
	fault := func(format string, a ...any) { errs = append(errs, fmt.Errorf("shadow: "+format, a...)) }
	live, dated := 0, 0
	would, real := make([]tally.Tally, len(s.m.classes)), make([]tally.Tally, len(s.m.classes))
	for _, h := range s.shades {
		if h == nil || h.ticket == 0 {
			continue
		}
		live++
		if h.item.Ticket != uint64(h.ticket) || h.state == pool.Free && h.item.State == pool.Apart {
			fault("%v stands for %v, which is %v, and is %v really", h.ticket, Ticket(h.item.Ticket), h.item.State, h.state)
		}
		if h.due.On() {
			dated++
		}
		i := h.class.index
		count(&would[i], h.item.State, 1)
		count(&real[i], h.state, 1)
	}
	if live != s.live || dated != s.due.Len() {
		fault("%d requests live twice and %d are to be told something, %d and %d are counted", live, dated, s.live, s.due.Len())
	}
	for _, c := range s.m.classes {
		w, r := &would[c.index], &real[c.index]
		if sh := c.shadow; sh != nil && (w.Waiting != sh.Would.Waiting || w.Running != sh.Would.Running || w.Abandoned != sh.Would.Abandoned ||
			r.Running != sh.Real.Running || r.Abandoned != sh.Real.Abandoned || sh.Real.Waiting != 0) {
			fault("class %s: twins by state %+v, real ones %+v, account %+v", c.Name, *w, *r, *sh)
		}
	}
	if at := s.due.Next(); at < s.m.now {
		fault("what was to be told at %v has not been at %v", at, s.m.now)
	}
	return errors.Join(errs...)
}

// checkShadow returns what is wrong with a class's account of them.
func (c *class) checkShadow() error {
	sum := c.ForgottenShadow
	c.Each(func(t *pool.Tenant) {
		if t.Shadow != nil {
			sum.Add(t.Shadow)
		}
	})
	if c.shadow == nil {
		if sum != (tally.Shadow{}) {
			return fmt.Errorf("class %s: its tenants have shadows, it has none", c.Name)
		}
		return nil
	}
	if err := c.shadow.Check(); err != nil {
		return fmt.Errorf("class %s: shadow: %w", c.Name, err)
	}
	if sum != *c.shadow {
		return fmt.Errorf("class %s: its tenants' shadows add up to %+v, its own is %+v", c.Name, sum, *c.shadow)
	}
	happened := c.shadow.Happened(&c.tally)
	return happened.Check()
}
