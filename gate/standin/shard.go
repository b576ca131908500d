package standin

import (
	"sync"
	"time"
)

// entryBytes is about what an entry takes beside its key and value: its place, its
// place in the index, and the string's header twice.
const entryBytes = 96

// none is no place.
const none = int32(-1)

// shard is a part of a store under one lock: an index, and a queue in the order in
// which keys came.
type shard[T any] struct {
	mu          sync.Mutex
	index       map[string]int32
	places      []place[T]
	free        []int32
	first, last int32 // of the queue: newest, oldest
	hand        int32 // who is looked at next when one must go

	entriesMost int
	bytesMost   int64
	ageMost     time.Duration
	bytes       int64
	journal     bool
	dirty       []int32 // places that changed, each at most once
	stats       Stats
	_           [64]byte // its neighbour's lock lies on another cache line
}

type place[T any] struct {
	key          string
	value        T
	at           time.Duration // of the store's time
	weight       int64
	newer, older int32
	visited      bool
	dirty        bool // is in the shard's list of those
	gone         bool // deleted, and not yet taken by Changed
	used         bool
}

func (h *shard[T]) begin(journal bool) {
	h.index = make(map[string]int32)
	h.first, h.last, h.hand = none, none, none
	h.journal = journal
}

func (h *shard[T]) resize(entries int, bytes int64, age time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entriesMost, h.bytesMost, h.ageMost = entries, bytes, age
	h.makeRoom(0, 0, none)
}

func (h *shard[T]) put(key string, v T, weight int64, at time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, there := h.index[key]
	if there && h.places[i].at > at {
		return
	}
	if weight > h.bytesMost {
		h.stats.TooLarge++
		if there {
			h.remove(i)
		}
		return
	}
	if !there {
		h.makeRoom(1, weight, none)
		i = h.place(key)
		h.enqueue(i)
	} else {
		h.makeRoom(0, weight-h.places[i].weight, i)
	}
	p := &h.places[i]
	h.bytes += weight - p.weight
	p.value, p.weight, p.at, p.gone = v, weight, at, false
	p.visited = there // to be put again is to be asked for again
	h.mark(i)
}

func (h *shard[T]) restore(key string, v T, weight int64, at time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := h.index[key]; there {
		return true
	}
	if len(h.index) >= h.entriesMost || h.bytes+weight > h.bytesMost {
		return false
	}
	i := h.place(key)
	p := &h.places[i]
	p.value, p.weight, p.at = v, weight, at
	h.bytes += weight
	// Behind all others: what a file gives comes newest first.
	if p.newer = h.last; h.last != none {
		h.places[h.last].older = i
	} else {
		h.first = i
	}
	h.last = i
	return true
}

func (h *shard[T]) get(key string, now time.Duration) (v T, age time.Duration, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, there := h.index[key]
	if !there || h.places[i].gone || h.old(&h.places[i], now) {
		h.stats.Misses++
		return v, 0, false
	}
	h.stats.Hits++
	p := &h.places[i]
	p.visited = true
	return p.value, max(now-p.at, 0), true
}

func (h *shard[T]) old(p *place[T], now time.Duration) bool {
	return h.ageMost > 0 && now-p.at > h.ageMost
}

func (h *shard[T]) delete(key string, now time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, there := h.index[key]
	switch {
	case !there:
	case !h.journal:
		h.remove(i)
	default: // its place says so until the file has been told
		var zero T
		p := &h.places[i]
		h.bytes -= p.weight - entryBytes - int64(len(key))
		p.value, p.weight, p.gone, p.at = zero, entryBytes+int64(len(key)), true, now
		h.mark(i)
	}
}

// makeRoom evicts until so much more fits. The place given stays.
func (h *shard[T]) makeRoom(entries int, bytes int64, but int32) {
	for len(h.index)+entries > h.entriesMost || h.bytes+bytes > h.bytesMost {
		i := h.victim(but)
		if i == none {
			return
		}
		h.remove(i)
		h.stats.Evicted++
	}
}

// victim returns the first place at or before the hand that was not visited, and
// takes the mark of a visit from those that it passes.
func (h *shard[T]) victim(but int32) int32 {
	if len(h.index) == 0 || len(h.index) == 1 && but != none {
		return none
	}
	for i := h.hand; ; {
		if i == none {
			i = h.last
		}
		p := &h.places[i]
		if i != but && !p.visited {
			h.hand = i
			return i
		}
		p.visited = p.visited && i == but
		i = p.newer
	}
}

// place takes a free place for a key.
func (h *shard[T]) place(key string) int32 {
	var i int32
	if n := len(h.free); n > 0 {
		i, h.free = h.free[n-1], h.free[:n-1]
	} else {
		i = int32(len(h.places))
		h.places = append(h.places, place[T]{})
	}
	dirty := h.places[i].dirty // it may be in the list for whoever was here before
	h.places[i] = place[T]{key: key, newer: none, older: none, dirty: dirty, used: true}
	h.index[key] = i
	return i
}

func (h *shard[T]) enqueue(i int32) {
	p := &h.places[i]
	if p.older = h.first; h.first != none {
		h.places[h.first].newer = i
	} else {
		h.last = i
	}
	h.first = i
}

func (h *shard[T]) remove(i int32) {
	p := &h.places[i]
	if p.newer != none {
		h.places[p.newer].older = p.older
	} else {
		h.first = p.older
	}
	if p.older != none {
		h.places[p.older].newer = p.newer
	} else {
		h.last = p.newer
	}
	if h.hand == i {
		h.hand = p.newer
	}
	h.bytes -= p.weight
	delete(h.index, p.key)
	*p = place[T]{dirty: p.dirty}
	h.free = append(h.free, i)
}

// mark notes that a place changed.
func (h *shard[T]) mark(i int32) {
	if p := &h.places[i]; h.journal && !p.dirty {
		p.dirty = true
		h.dirty = append(h.dirty, i)
	}
}

func (h *shard[T]) changed(to []Change[T], most int, epoch time.Time) []Change[T] {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Since(epoch)
	n := min(most, len(h.dirty))
	for _, i := range h.dirty[:n] {
		p := &h.places[i]
		p.dirty = false
		if !p.used {
			continue
		}
		gone := p.gone || h.old(p, now)
		to = append(to, Change[T]{Key: p.key, Value: p.value, At: epoch.Add(p.at), Gone: gone})
		if p.gone {
			h.remove(i)
		}
	}
	h.dirty = h.dirty[:copy(h.dirty, h.dirty[n:])]
	return to
}

func (h *shard[T]) add(to *Stats) {
	h.mu.Lock()
	defer h.mu.Unlock()
	to.Entries += int64(len(h.index))
	to.Bytes += h.bytes
	to.Hits += h.stats.Hits
	to.Misses += h.stats.Misses
	to.Evicted += h.stats.Evicted
	to.TooLarge += h.stats.TooLarge
}
