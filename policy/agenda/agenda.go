package agenda

import "github.com/spillway-dev/spillway/policy/unit"

// An Entry is embedded in whatever can be due. It belongs to at most one
// Agenda at a time; its zero value belongs to none.
type Entry[T any] struct {
	// Item is what the entry stands for; set once by its owner.
	Item T

	at       unit.Instant
	seq      uint64
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
	heap []*Entry[T]
	seq  uint64
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
	if e.On() {
		earlier := at < e.at // an equal instant is a later entry: it has a new seq
		e.at, e.seq = at, a.seq
		if earlier {
			a.up(e.position - 1)
		} else {
			a.down(e.position - 1)
		}
		return
	}
	e.at, e.seq = at, a.seq
	a.heap = append(a.heap, e)
	e.position = len(a.heap)
	a.up(len(a.heap) - 1)
}

// Strike takes e off the agenda if it is on it.
func (a *Agenda[T]) Strike(e *Entry[T]) {
	if !e.On() {
		return
	}
	i, last := e.position-1, len(a.heap)-1
	moved := a.heap[last]
	a.heap[last] = nil
	a.heap = a.heap[:last]
	e.position = 0
	if i == last {
		return
	}
	a.place(moved, i)
	if !a.up(i) {
		a.down(i)
	}
}

// Pop takes the earliest entry due at or before now off the agenda and
// returns it, or nil.
func (a *Agenda[T]) Pop(now unit.Instant) *Entry[T] {
	if len(a.heap) == 0 || a.heap[0].at > now {
		return nil
	}
	e := a.heap[0]
	a.Strike(e)
	return e
}

func (a *Agenda[T]) place(e *Entry[T], i int) {
	a.heap[i] = e
	e.position = i + 1
}

func before[T any](e, f *Entry[T]) bool {
	return e.at < f.at || e.at == f.at && e.seq < f.seq
}

// up moves the entry at i towards the root and reports whether it moved.
func (a *Agenda[T]) up(i int) bool {
	e, start := a.heap[i], i
	for i > 0 {
		parent := (i - 1) / 4
		if !before(e, a.heap[parent]) {
			break
		}
		a.place(a.heap[parent], i)
		i = parent
	}
	a.place(e, i)
	return i != start
}

func (a *Agenda[T]) down(i int) {
	e, n := a.heap[i], len(a.heap)
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if before(a.heap[c], a.heap[least]) {
				least = c
			}
		}
		if !before(a.heap[least], e) {
			break
		}
		a.place(a.heap[least], i)
		i = least
	}
	a.place(e, i)
}
