package store

// line is a queue in a ring that grows to the longest it has been. Its length
// counts also those who have left it; waiting does not.
type line struct {
	ring        []place
	head, count int
}

// place is a lookup's in the line; stale once the lookup's life is another.
type place struct {
	what int32
	life uint32
}

func (l *line) push(p place) {
	if l.count == len(l.ring) {
		grown := make([]place, max(64, 2*len(l.ring)))
		n := copy(grown, l.ring[l.head:])
		copy(grown[n:], l.ring[:l.head])
		l.ring, l.head = grown, 0
	}
	l.ring[(l.head+l.count)&(len(l.ring)-1)] = p
	l.count++
}

func (l *line) pop() place {
	p := l.ring[l.head]
	l.head = (l.head + 1) & (len(l.ring) - 1)
	l.count--
	return p
}
