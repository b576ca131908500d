package agenda

import "github.com/spillway-dev/spillway/policy/unit"

// An Entry is embedded in whatever can be due. It belongs to at most one
// Agenda at a time; its zero value belongs to none.
type Entry[T any] struct {
	// Item is what the entry stands for; set once by its owner.
	Item T

	at       unit.Instant
	position int // index in the heap plus one; 0 when not on an agenda
}

// On reports whether the entry is on an agenda.
func (e *Entry[T]) On() bool { return e.position != 0 }

// At returns the instant at which the entry is due, or Never.
func (e *Entry[T]) At() unit.Instant {
	if !e.On() {
		return unit.Never
	}
	return e.at
}

// Agenda is a four-ary heap of entries that know their own place, so that
// one can be struck off without a search. Set, Strike and Pop take O(log n);
// Next takes O(1). Its memory follows the most entries it ever held. Not safe for
// concurrent use. The zero value is an empty agenda.
type Agenda[T any] struct {
	heap []place[T]
	seq  uint64
}

// A place is an entry's in the heap, with what it is ordered by beside it:
// finding the least of four reads one stretch of memory instead of four entries
// that lie anywhere.
type place[T any] struct {
	at    unit.Instant
	seq   uint64
	entry *Entry[T]
}

func (p *place[T]) before(q *place[T]) bool {
	return p.at < q.at || p.at == q.at && p.seq < q.seq
}

// Len returns the number of entries.
func (a *Agenda[T]) Len() int { return len(a.heap) }

// Next returns the earliest instant at which an entry is due, or Never.
func (a *Agenda[T]) Next() unit.Instant {
	if len(a.heap) == 0 {
		return unit.Never
	}
	return a.heap[0].at
}

// Set puts e on the agenda at the given instant, or moves it there.
func (a *Agenda[T]) Set(e *Entry[T], at unit.Instant) {
	if at == unit.Never {
		a.Strike(e)
		return
	}
	a.seq++
	p := place[T]{at, a.seq, e}
	if !e.On() {
		i := len(a.heap)
		e.at, e.position = at, i+1
		a.heap = append(a.heap, p)
		if i > 0 && p.before(&a.heap[(i-1)/4]) {
			a.up(p, i)
		}
		return
	}
	earlier := at < e.at // an equal instant is a later entry: it has a new seq
	e.at = at
	if earlier {
		a.up(p, e.position-1)
	} else {
		a.down(p, e.position-1)
	}
}

// Strike takes e off the agenda if it is on it.
func (a *Agenda[T]) Strike(e *Entry[T]) {
	if !e.On() {
		return
	}
	i, last := e.position-1, len(a.heap)-1
	moved := a.heap[last]
	a.heap[last] = place[T]{}
	a.heap = a.heap[:last]
	e.position = 0
	switch {
	case i == last:
	case i > 0 && moved.before(&a.heap[(i-1)/4]):
		a.up(moved, i)
	default:
		a.down(moved, i)
	}
}

// Pop takes the earliest entry due at or before now off the agenda and
// returns it, or nil.
func (a *Agenda[T]) Pop(now unit.Instant) *Entry[T] {
	if len(a.heap) == 0 || a.heap[0].at > now {
		return nil
	}
	e := a.heap[0].entry
	a.Strike(e)
	return e
}

// up puts p at i, which is free, or as far towards the root as it belongs.
func (a *Agenda[T]) up(p place[T], i int) {
	for i > 0 {
		parent := (i - 1) / 4
		if !p.before(&a.heap[parent]) {
			break
		}
		a.put(a.heap[parent], i)
		i = parent
	}
	a.put(p, i)
}

// down puts p at i, which is free, or as far from the root as it belongs.
func (a *Agenda[T]) down(p place[T], i int) {
	heap := a.heap
	for {
		first := 4*i + 1
		if first >= len(heap) {
			break
		}
		child, least := first, &heap[first]
		end := min(first+4, len(heap))
		for c := first + 1; c < end; c++ {
			if q := &heap[c]; q.before(least) {
				child, least = c, q
			}
		}
		if !least.before(&p) {
			break
		}
		heap[i] = *least
		least.entry.position = i + 1
		i = child
	}
	a.put(p, i)
}

func (a *Agenda[T]) put(p place[T], i int) {
	a.heap[i] = p
	p.entry.position = i + 1
}
