package agenda

import "github.com/spillway-dev/spillway/policy/unit"

// line holds entries that came in the order in which they are due, as they do while
// one time limit holds for all: no search, and read from one end to the other. It is
// a ring; who is struck off in the middle leaves a gap, and what is at either end is
// an entry. Positions count on from the first entry there ever was, so that they
// outlive the ring's growth.
type line[T any] struct {
	ring       []place[T] // its length a power of two, or nothing
	first, end int        // positions; none is there if they are equal
}

func (l *line[T]) at(position int) *place[T] { return &l.ring[position&(len(l.ring)-1)] }

func (l *line[T]) empty() bool { return l.first == l.end }

// takes reports whether an entry that is due at that instant goes to the end.
func (l *line[T]) takes(at unit.Instant) bool { return l.empty() || l.at(l.end-1).at <= at }

// push takes an entry in at the end. There is room.
func (l *line[T]) push(at unit.Instant, seq uint64, e *Entry[T]) {
	e.position = -1 - l.end
	p := l.at(l.end) // field by field: a copy would wait for the fields just written
	p.at, p.seq, p.entry = at, seq, e
	l.end++
}

func (l *line[T]) full() bool { return l.end-l.first == len(l.ring) }

func (l *line[T]) strike(e *Entry[T]) {
	position := -1 - e.position
	l.at(position).entry = nil
	switch position {
	case l.first:
		for l.first++; l.first < l.end && l.at(l.first).entry == nil; l.first++ {
		}
	case l.end - 1:
		for l.end--; l.at(l.end-1).entry == nil; l.end-- { // the first is an entry
		}
	}
}

// makeRoom closes the gaps if they are half of a full ring, in which there are so many
// entries, and else doubles it: either way it is for as many to come as it looks at.
func (l *line[T]) makeRoom(entries int) {
	if len(l.ring) < 2*entries || len(l.ring) == 0 {
		old := *l
		l.ring = make([]place[T], max(2*len(old.ring), lineLeast))
		for i := old.first; i < old.end; i++ {
			*l.at(i) = *old.at(i)
		}
		return
	}
	to := l.first
	for i := l.first; i < l.end; i++ {
		if p := *l.at(i); p.entry != nil {
			p.entry.position = -1 - to
			*l.at(to) = p
			to++
		}
	}
	for i := to; i < l.end; i++ {
		*l.at(i) = place[T]{}
	}
	l.end = to
}

// lineLeast is the least length of a ring.
const lineLeast = 8
