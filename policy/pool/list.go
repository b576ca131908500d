package pool

// An item can stand in several lists at once, one of each kind.
const (
	byTenant      = iota // all of a tenant's waiters
	byLevel              // all of the room's waiters of one importance
	byTenantLevel        // a tenant's waiters of one importance
	linkKinds

	// Blocked items are in no other list, so they use one of those links.
	byBlocked = byLevel
)

// list is an intrusive list in order of arrival: constant time to add, and
// constant time to take out from anywhere, which is what lets a caller who
// hung up be gone at once.
type list struct {
	head, tail *Item // oldest, newest
	len        int
	bytes      int64
}

func (l *list) add(it *Item, kind int) {
	it.links[kind].prev = l.tail
	if l.tail != nil {
		l.tail.links[kind].next = it
	} else {
		l.head = it
	}
	l.tail = it
	l.len++
	l.bytes += it.Bytes
}

func (l *list) remove(it *Item, kind int) {
	link := &it.links[kind]
	if link.prev != nil {
		link.prev.links[kind].next = link.next
	} else {
		l.head = link.next
	}
	if link.next != nil {
		link.next.links[kind].prev = link.prev
	} else {
		l.tail = link.prev
	}
	link.next, link.prev = nil, nil
	l.len--
	l.bytes -= it.Bytes
}
