package pool

import "github.com/spillway-dev/spillway/policy/quota"

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
	asked      *quota.Amounts // of budgets; nil: nothing
}

func (l *list) add(it *Item, kind int) {
	it.links[kind].prev = l.tail
	if l.tail != nil {
		l.tail.links[kind].next = it
	} else {
		l.head = it
	}
	l.tail = it
	l.count(it)
}

// insert adds an item that has stood in the list before, at its old place. It looks
// for that from both ends: who comes back is one of the oldest or of the newest.
func (l *list) insert(it *Item, kind int) {
	after, before := l.head, l.tail
	for after != nil && after.Seq < it.Seq && before.Seq > it.Seq {
		after, before = after.links[kind].next, before.links[kind].prev
	}
	switch {
	case after == nil: // the list is empty
	case before.Seq < it.Seq:
		after = before.links[kind].next
	default:
		before = after.links[kind].prev
	}
	it.links[kind].prev, it.links[kind].next = before, after
	if before != nil {
		before.links[kind].next = it
	} else {
		l.head = it
	}
	if after != nil {
		after.links[kind].prev = it
	} else {
		l.tail = it
	}
	l.count(it)
}

func (l *list) count(it *Item) {
	l.len++
	l.bytes += it.Bytes
	if it.Ask != nil {
		if l.asked == nil {
			l.asked = new(quota.Amounts)
		}
		l.asked.Add(&it.Ask.Amounts)
	}
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
	if it.Ask != nil {
		l.asked.Sub(&it.Ask.Amounts)
	}
}
