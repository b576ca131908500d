package store

import (
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
)

// replica is one copy of the store.
type replica struct {
	busy, slots int
	line        line
	slow        []span // its busy times that are not over yet
	guard       *guard // nil: none
}

// lookup is an attempt that the store was sent and is not rid of.
type lookup struct {
	Lookup
	sender   int32
	life     uint32
	place    where
	listened bool // the service would take its answer
	judged   bool
	ticket   boundary.Ticket
	after    time.Duration // with a refusal: when to come back
}

type where uint8

const (
	nowhere where = iota
	inLine
	inSlot
	atDoor // turned away, and not told yet
)

func (r *Run) openCopies() error {
	n := max(r.Store.Copies, 1)
	r.copies = make([]replica, n)
	for i := range r.copies {
		c := &r.copies[i]
		c.slots = r.Store.Slots
		which := i
		if r.Store.Together {
			which = 0
		}
		c.slow = r.Draws.spans(r.Store.Busy, which, r.For)
		if r.Store.Guarded {
			var err error
			if c.guard, err = newGuard(r.Store.Slots, uint64(i)+1); err != nil {
				return err
			}
		}
	}
	if n > 1 {
		r.spread = spread.New(spread.Config{}, 1)
		for range r.copies {
			r.spread.Add(0, false)
		}
	}
	return nil
}

// send brings an attempt to a copy of the store.
func (r *Run) send(i int32, step call.Step) {
	s := &r.senders[i]
	if step.Hedge {
		s.flying[1] = flight{}
	} else {
		s.flying = [2]flight{}
	}
	what := r.fresh()
	l := &r.lookups[what]
	*l = lookup{life: l.life + 1, sender: i, listened: true, place: inLine, Lookup: Lookup{
		N: s.N, Attempt: step.Attempt, Hedge: step.Hedge, Sent: r.now, Begun: -1, Limit: step.Limit, Fate: Late,
	}}
	if l.Drawn, l.Frozen = s.firstWait, s.FirstFrozen; step.Attempt != 1 {
		l.Drawn, l.Frozen = r.Draws.Wait(s.N, step.Attempt)
	}
	s.Frozen = s.Frozen || l.Frozen
	if r.spread != nil {
		s.copy, _ = r.spread.Take(r.now, s.copy)
		l.Copy = int(s.copy)
	}
	f := &s.flying[0]
	if step.Hedge {
		f = &s.flying[1]
	}
	*f = flight{step.Attempt, what, r.now, -1}
	r.sums.Lookups++
	r.lost++
	r.admit(what, l)
}

// fresh returns a lookup to fill in. Pointers to lookups are void after it.
func (r *Run) fresh() int32 {
	if n := len(r.unused); n > 0 {
		what := r.unused[n-1]
		r.unused = r.unused[:n-1]
		return what
	}
	r.lookups = append(r.lookups, lookup{})
	return int32(len(r.lookups) - 1)
}

// admit gives a lookup a slot, or a place in the line.
func (r *Run) admit(what int32, l *lookup) {
	c := &r.copies[l.Copy]
	if c.guard != nil {
		r.offer(what, l)
		return
	}
	if c.busy < c.slots {
		r.start(what, l)
		return
	}
	c.line.Push(place{What: what, Life: l.life})
	r.wait(+1)
	if r.Travels && l.Limit != unit.Never {
		r.heap.Push(l.Limit, stops, what, l.life)
	}
}

func (r *Run) wait(n int) {
	r.waiting += n
	r.sums.MaxWaiting = max(r.sums.MaxWaiting, r.waiting)
}

// start gives a lookup a slot.
func (r *Run) start(what int32, l *lookup) {
	c := &r.copies[l.Copy]
	c.busy++
	l.place, l.Begun = inSlot, r.now
	if s := &r.senders[l.sender]; s.N == l.N {
		for i := range s.flying {
			if s.flying[i].attempt == l.Attempt {
				s.flying[i].slot = r.now
			}
		}
	}
	hold := l.Drawn
	for len(c.slow) > 0 && c.slow[0].to <= time.Duration(r.now) {
		c.slow = c.slow[1:]
	}
	if len(c.slow) > 0 && c.slow[0].from <= time.Duration(r.now) {
		hold *= time.Duration(r.Store.Busy.Factor)
	}
	end := r.now.Add(hold)
	if r.Travels && !r.Store.Deaf && l.Limit < end {
		r.heap.Push(l.Limit, stops, what, l.life)
		return
	}
	r.heap.Push(end, ends, what, l.life)
}

// ended takes a lookup out of the store, and its answer to the service if that
// still listens.
func (r *Run) ended(e event, fate Fate) {
	l := &r.lookups[e.What]
	if l.life != e.Life || l.place == nowhere {
		return
	}
	c, was := &r.copies[l.Copy], l.place
	l.place, l.Ended, l.Fate = nowhere, r.now, fate
	switch {
	case was == inSlot:
		c.busy--
	case was == inLine:
		r.wait(-1)
	}
	if l.listened && fate == Stopped { // an instant before the service itself gives it up
		r.late(&r.senders[l.sender], l)
	}
	listened, i, attempt := l.listened && fate != Stopped, l.sender, l.Attempt
	outcome := call.Outcome{Result: call.OK}
	said := spread.Answered
	if fate == Turned {
		outcome = call.Outcome{Result: call.Refused, After: l.after}
		said = spread.Busy
	}
	if listened {
		r.judge(l, said)
	} else if fate == Used {
		l.Fate = Late
	}
	if r.watch.Lookup != nil {
		r.watch.Lookup(&l.Lookup)
	}
	ticket := l.ticket
	l.life++
	r.lost--
	r.unused = append(r.unused, e.What)
	if c.guard != nil {
		r.leave(c, was, fate, ticket)
	} else if was == inSlot {
		r.next(c)
	}
	if listened {
		r.follow(i, *r.dependency.Ended(r.now, &r.senders[i].call, attempt, outcome))
	}
}

// next gives the slot that has come free to the line.
func (r *Run) next(c *replica) {
	for c.line.Len() > 0 && c.busy < c.slots {
		p := c.line.Pop()
		if l := &r.lookups[p.What]; l.life == p.Life && l.place == inLine {
			r.wait(-1)
			r.start(p.What, l)
		}
	}
}

// judge tells who spreads what came of a call, once.
func (r *Run) judge(l *lookup, o spread.Outcome) {
	if r.spread == nil || l.judged {
		return
	}
	l.judged = true
	r.spread.Judge(r.now, spread.Copy(l.Copy), o, r.now.Sub(l.Sent))
	r.spread.Done(spread.Copy(l.Copy))
}
