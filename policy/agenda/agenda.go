package agenda

import "github.com/spillway-dev/spillway/policy/unit"

// An Entry is embedded in whatever can be due. It belongs to at most one
// Agenda at a time; its zero value belongs to none.
type Entry[T any] struct {
	// Item is what the entry stands for; set once by its owner.
	Item T

	at       unit.Instant
	position int // index in the heap plus one; in the line less than 0; 0: on no agenda
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

// Agenda is a line of what came in the order in which it is due, and a four-ary heap
// of what did not, of entries that know their own place, so that one can be struck off
// without a search. Set, Strike and Pop take O(1) in the line, over many, and O(log n)
// in the heap; Next takes O(1). Its memory follows the most entries it ever held. Not
// safe for concurrent use. The zero value is an empty agenda.
type Agenda[T any] struct {
	next unit.Instant // the earliest, if there is any
	len  int
	seq  uint64
	line line[T]
	heap []place[T]
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
func (a *Agenda[T]) Len() int { return a.len }

// Next returns the earliest instant at which an entry is due, or Never.
func (a *Agenda[T]) Next() unit.Instant {
	if a.len == 0 {
		return unit.Never
	}
	return a.next
}

// Set puts e on the agenda at the given instant, or moves it there.
func (a *Agenda[T]) Set(e *Entry[T], at unit.Instant) {
	if e.On() {
		a.Strike(e)
	}
	if at == unit.Never {
		return
	}
	a.seq++
	e.at = at
	if a.line.takes(at) {
		if a.line.full() {
			a.line.makeRoom(a.len - len(a.heap))
		}
		a.line.push(at, a.seq, e)
	} else {
		p := place[T]{at, a.seq, e}
		a.heap = append(a.heap, p)
		a.up(p, len(a.heap)-1)
	}
	if a.len == 0 || at < a.next {
		a.next = at
	}
	a.len++
}

// Strike takes e off the agenda if it is on it.
func (a *Agenda[T]) Strike(e *Entry[T]) {
	if !e.On() {
		return
	}
	if e.position < 0 {
		a.line.strike(e)
	} else {
		a.remove(e.position - 1)
	}
	e.position = 0
	if a.len--; a.len > 0 && e.at == a.next {
		a.next = a.earliest().at
	}
}

// Pop takes the earliest entry due at or before now off the agenda and
// returns it, or nil.
func (a *Agenda[T]) Pop(now unit.Instant) *Entry[T] {
	if a.len == 0 || a.next > now {
		return nil
	}
	e := a.earliest().entry
	a.Strike(e)
	return e
}

// earliest returns the place of the earliest entry; there is one.
func (a *Agenda[T]) earliest() *place[T] {
	if a.line.empty() {
		return &a.heap[0]
	}
	first := a.line.at(a.line.first)
	if len(a.heap) > 0 && a.heap[0].before(first) {
		return &a.heap[0]
	}
	return first
}

// remove takes the place at i out of the heap.
func (a *Agenda[T]) remove(i int) {
	last := len(a.heap) - 1
	moved := a.heap[last]
	a.heap[last] = place[T]{}
	a.heap = a.heap[:last]
	switch {
	case i == last:
	case i > 0 && moved.before(&a.heap[(i-1)/4]):
		a.up(moved, i)
	default:
		a.down(moved, i)
	}
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
