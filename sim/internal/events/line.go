package events

// Place is somebody's in a line; stale once that one's life is another.
type Place struct {
	What int32
	Life uint32
}

// Line is a queue in a ring that grows to the longest it has been. Its length counts also
// those who have left it, whose places are stale. The zero Line is empty.
type Line struct {
	ring        []Place
	head, count int
}

// Len returns how many places there are.
func (l *Line) Len() int { return l.count }

// Push puts a place at the end.
func (l *Line) Push(p Place) {
	if l.count == len(l.ring) {
		grown := make([]Place, max(64, 2*len(l.ring)))
		n := copy(grown, l.ring[l.head:])
		copy(grown[n:], l.ring[:l.head])
		l.ring, l.head = grown, 0
	}
	l.ring[(l.head+l.count)&(len(l.ring)-1)] = p
	l.count++
}

// Pop takes the first place off. The line must not be empty.
func (l *Line) Pop() Place {
	p := l.ring[l.head]
	l.head = (l.head + 1) & (len(l.ring) - 1)
	l.count--
	return p
}
