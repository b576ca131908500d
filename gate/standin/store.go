package standin

import (
	"hash/maphash"
	"time"
)

// Limits bound what a store keeps. Zero fields take their defaults.
type Limits struct {
	// Entries is the most that are kept, 1 .. 100,000,000. Default EntriesDefault.
	Entries int
	// Bytes is the most that they take together: keys, values as Size says, and
	// about 100 B each for the entry itself. Default BytesDefault.
	Bytes int64
	// Age is how old one may be and still be given; 0: as old as it gets.
	Age time.Duration
}

// Defaults of Limits.
const (
	EntriesDefault = 1 << 16
	BytesDefault   = 64 << 20
)

// entriesMost keeps links within 32 bits.
const entriesMost = 100_000_000

func (l Limits) filled() Limits {
	if l.Entries <= 0 {
		l.Entries = EntriesDefault
	}
	l.Entries = min(l.Entries, entriesMost)
	if l.Bytes <= 0 {
		l.Bytes = BytesDefault
	}
	return l
}

// Options of a store.
type Options[T any] struct {
	Limits
	// Size is what a value takes in memory, in bytes; nil: 16 each. It is called
	// once for each Put and must say the same of the same value.
	Size func(T) int
	// Journal has the store remember which entries changed, for Changed. It is for
	// what writes them to a file.
	Journal bool
}

// Store holds the last answer for each key, as many as its limits allow. When they
// are reached, an entry is evicted that was neither put again nor got since it was
// last looked at, oldest first (SIEVE: Zhang et al., NSDI 2024): a scan over keys
// that come once does not push out those that come again.
//
// It is safe for concurrent use, has no goroutine, and reads no file. A Put takes
// well under a microsecond behind one of up to 16 locks, an eviction included; one of
// a key that is there allocates nothing. Values are shared, and must not be changed once put.
type Store[T any] struct {
	size   func(T) int
	epoch  time.Time
	seed   maphash.Seed
	shards []shard[T]
}

// Bounds of shards: no more locks than help, and none whose part of the limits
// would be too small for a large value.
const (
	shardsMost   = 16
	shardEntries = 256
	shardBytes   = 4 << 20
)

// New returns an empty store.
func New[T any](o Options[T]) *Store[T] {
	o.Limits = o.Limits.filled()
	s := &Store[T]{size: o.Size, epoch: time.Now(), seed: maphash.MakeSeed()}
	n := 1
	for n < shardsMost && o.Entries/(2*n) >= shardEntries && o.Bytes/int64(2*n) >= shardBytes {
		n *= 2
	}
	s.shards = make([]shard[T], n)
	for i := range s.shards {
		s.shards[i].begin(o.Journal)
	}
	s.Resize(o.Limits)
	return s
}

// Resize changes the limits; what is too much goes at once. The number of locks, and
// with it the largest value that fits, stays.
func (s *Store[T]) Resize(l Limits) {
	l = l.filled()
	n := len(s.shards)
	for i := range s.shards {
		s.shards[i].resize(max(l.Entries/n, 1), max(l.Bytes/int64(n), 1), l.Age)
	}
}

// now is the store's own time: a wall clock that jumps changes no age.
func (s *Store[T]) now() time.Duration { return time.Since(s.epoch) }

func (s *Store[T]) of(key string) *shard[T] {
	if len(s.shards) == 1 {
		return &s.shards[0]
	}
	return &s.shards[maphash.String(s.seed, key)&uint64(len(s.shards)-1)]
}

func (s *Store[T]) weight(key string, v T) int64 {
	n := 16
	if s.size != nil {
		n = max(s.size(v), 0)
	}
	return int64(n) + int64(len(key)) + entryBytes
}

// Put keeps the primary's answer for a key, in place of the one before. One that is
// larger than its part of the store is not kept, and the one before goes too: it is
// no longer the last.
func (s *Store[T]) Put(key string, v T) { s.PutAged(key, v, 0) }

// PutAged is Put for an answer that is of some age already. It changes nothing where
// a newer one is there.
func (s *Store[T]) PutAged(key string, v T, age time.Duration) {
	s.of(key).put(key, v, s.weight(key, v), s.now()-max(age, 0))
}

// Get returns the last answer for the key and how old it is.
func (s *Store[T]) Get(key string) (v T, age time.Duration, ok bool) {
	return s.of(key).get(key, s.now())
}

// Delete forgets the answer for a key.
func (s *Store[T]) Delete(key string) { s.of(key).delete(key, s.now()) }

// Restore adds an entry that a file kept, put at that moment, unless one is there or
// there is no room: it evicts nothing. It reports whether there was room.
func (s *Store[T]) Restore(key string, v T, at time.Time) bool {
	return s.of(key).restore(key, v, s.weight(key, v), min(at.Sub(s.epoch), s.now()))
}

// Change is an entry that was put or deleted.
type Change[T any] struct {
	Key   string
	Value T
	At    time.Time // when it was put, or deleted
	Gone  bool      // it was deleted, or is too old to be given
}

// Changed appends the entries that changed since they were last taken, at most as
// many as given from each lock's part, and returns them. What was put and evicted
// in between is not among them. It is empty without Options.Journal.
func (s *Store[T]) Changed(to []Change[T], most int) []Change[T] {
	for i := range s.shards {
		to = s.shards[i].changed(to, most, s.epoch)
	}
	return to
}

// Stats is what a store holds and did.
type Stats struct {
	Entries, Bytes    int64
	Hits, Misses      int64 // of Get; an entry too old to be given is a miss
	Evicted, TooLarge int64 // made room; were larger than their part of the store
}

// Stats returns them, summed up over all parts at about the same moment.
func (s *Store[T]) Stats() Stats {
	var sum Stats
	for i := range s.shards {
		s.shards[i].add(&sum)
	}
	return sum
}

// Limits returns those in force.
func (s *Store[T]) Limits() Limits {
	h := &s.shards[0]
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(s.shards)
	return Limits{Entries: h.entriesMost * n, Bytes: h.bytesMost * int64(n), Age: h.ageMost}
}
