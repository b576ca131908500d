package decisions

import (
	"cmp"
	"slices"
	"time"
)

// How much is remembered, and for how long, may change while the log is in use.

// few is how many decisions are forgotten at most on the way of a request.
const few = 4

// Keep changes how many decisions are kept, and for how long; an age of 0: until
// another needs the place. What there is stays, as far as there is room: where
// there is less, the oldest goes of what there is most of, as it would have gone
// with so many places from the start. 0 or less keeps nothing, and frees the memory.
//
// It takes some 100 ns a decision that is kept, but holds nobody up for longer than
// a few of them take. What is asked meanwhile is answered afterwards.
func (l *Log) Keep(keep int, age time.Duration) {
	if l == nil {
		return
	}
	l.resizing.Lock()
	defer l.resizing.Unlock()
	l.mu.Lock()
	old := l.book
	if l.age = int64(max(age, 0)); len(l.entries) != max(keep, 0) {
		fresh := newBook(max(keep, 0))
		fresh.seq, fresh.age = l.seq, l.age
		l.book = fresh
	}
	l.mu.Unlock()
	if len(old.entries) != max(keep, 0) {
		l.takeOver(&old)
	}
}

// takeOver puts before what has been added meanwhile what an old book holds, the
// newest first.
func (l *Log) takeOver(old *book) {
	var order []int32
	for i := range old.entries {
		if old.entries[i].seq != 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(old.entries[b].seq, old.entries[a].seq) })
	for part := range slices.Chunk(order, stretch) {
		l.mu.Lock()
		for _, i := range part {
			l.prepend(&old.entries[i])
		}
		l.mu.Unlock()
	}
}

// prepend adds a decision that is older than all that there are, if it has a place:
// it goes first where there is most of its own kind and share.
func (b *book) prepend(old *entry) {
	if len(b.entries) == 0 {
		return
	}
	k := b.kind(old.kind.kindKey)
	s := &k.shares[shareOf(string(old.tenant[:old.nameLen]))]
	i, ok := b.vacant()
	if !ok {
		most := b.mostOf(k)
		longest := most.largest()
		if most == k && longest.count <= s.count || most != k && most.count < k.count+2 {
			return // it would be the next to go
		}
		i = b.shift(most, longest)
	}
	e := &b.entries[i]
	*e = *old
	e.kind, e.next = k, s.first
	if s.count == 0 {
		s.last = i
	}
	s.first = i
	s.count++
	k.count++
}

// forget takes out of a share at most n of what is too old.
func (b *book) forget(k *kind, s *share, now int64, n int) (gone int) {
	for ; b.age > 0 && gone < n && s.count > 0 && now-b.entries[s.first].at >= b.age; gone++ {
		i := b.shift(k, s)
		b.entries[i] = entry{next: b.freed}
		b.freed = i
		b.free++
		b.most = nil // it may not be that any longer
	}
	return gone
}

// forgetAll forgets all that is too old, and holds nobody up for long.
func (l *Log) forgetAll(now int64) {
	for k := 0; l.forgetKind(k, now); k++ {
	}
}

// forgetKind forgets what is too old of the kind that was the n-th to be seen, and
// reports whether there is one.
func (l *Log) forgetKind(n int, now int64) bool {
	for part := 0; part < shares; {
		l.mu.Lock()
		if l.age == 0 || n >= len(l.order) {
			l.mu.Unlock()
			return false
		}
		k := l.order[n]
		if l.forget(k, &k.shares[part], now, stretch) < stretch {
			part++
		}
		l.mu.Unlock()
	}
	return true
}
