package decisions

import (
	"sync"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

// KeepDefault is how many decisions are kept where nothing is said: 3 MB, and
// minutes of what is rare.
const KeepDefault = 4096

// What of an id and of a tenant's name is kept, in bytes.
const (
	idMax     = 128
	tenantMax = 64
)

// shares is how many parts the tenants of a kind are told apart in.
const shares = 16

// Log is a memory of decisions. Create it with New; the zero Log, and a nil one,
// remembers nothing. See Keep.
type Log struct {
	resizing sync.RWMutex // held to read while the log is looked through
	mu       sync.Mutex   // what follows is guarded by it
	book
}

// book is what a log holds.
type book struct {
	entries []entry
	unused  int32 // the first entry that has never been used
	freed   int32 // the first of those that are free again, and how many
	free    int
	kinds   map[kindKey]*kind
	order   []*kind // the same, in the order in which they were first seen
	most    *kind   // what there was most of when one of it took another's place last; or nil
	seq     uint64
	age     int64 // nanoseconds after which a decision is forgotten; 0: never
}

// entry is one decision as it is kept.
type entry struct {
	seq      uint64 // 0: none
	at       int64  // nanoseconds since 1970
	kind     *kind
	next     int32 // of the same kind and share, the next younger
	idLen    uint8
	nameLen  uint8
	id       [idMax]byte
	tenant   [tenantMax]byte
	decision boundary.Case // without the tenant's name
}

// kind is what is shared out fairly among: a class's decisions for one reason.
type kind struct {
	kindKey
	count  int
	shares [shares]share
}

type kindKey struct {
	resource, class string
	reason          reason.Reason
	shadow          bool
}

// share is a queue of entries, the oldest first.
type share struct {
	first, last int32
	count       int
}

// New returns a log that keeps so many decisions; 0 or less: KeepDefault.
func New(keep int) *Log {
	if keep <= 0 {
		keep = KeepDefault
	}
	return &Log{book: newBook(keep)}
}

func newBook(keep int) book {
	return book{entries: make([]entry, keep), kinds: make(map[kindKey]*kind)}
}

// Add remembers a decision of a class of a resource, about the request with that
// id. It copies what it keeps. Resources and classes are remembered for good: they
// come from a configuration.
func (l *Log) Add(resource, class, id string, x *boundary.Case) {
	if l == nil {
		return
	}
	now := time.Now().UnixNano()
	key := kindKey{resource, class, x.Reason, x.Shadow}
	part := shareOf(x.Tenant)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) == 0 {
		return
	}
	k := l.kind(key)
	s := &k.shares[part]
	l.forget(k, s, now, few)
	i := l.place(k)
	l.seq++
	e := &l.entries[i]
	e.seq, e.at, e.kind = l.seq, now, k
	e.idLen, e.nameLen = uint8(copy(e.id[:], id)), uint8(copy(e.tenant[:], x.Tenant))
	e.decision = *x
	e.decision.Tenant = ""
	if s.count == 0 {
		s.first = i
	} else {
		l.entries[s.last].next = i
	}
	s.last = i
	s.count++
	k.count++
}

func (b *book) kind(key kindKey) *kind {
	k := b.kinds[key]
	if k == nil {
		k = &kind{kindKey: key}
		b.kinds[key] = k
		b.order = append(b.order, k)
	}
	return k
}

// vacant returns an entry that nothing is in.
func (b *book) vacant() (i int32, ok bool) {
	switch {
	case b.free > 0:
		i, b.freed, b.free = b.freed, b.entries[b.freed].next, b.free-1
	case int(b.unused) < len(b.entries):
		i = b.unused
		b.unused++
	default:
		return 0, false
	}
	return i, true
}

// place returns an entry for one more of kind k.
func (b *book) place(k *kind) int32 {
	i, ok := b.vacant()
	if !ok {
		most := b.mostOf(k)
		i = b.shift(most, most.largest())
	}
	return i
}

// mostOf returns what there is most of: of equals, k.
func (b *book) mostOf(k *kind) *kind {
	if k == b.most { // one that floods takes its own places over and over
		return k
	}
	most := k
	for _, o := range b.order {
		if o.count > most.count {
			most = o
		}
	}
	b.most = nil // which there is less of from now on
	if most == k {
		b.most = k
	}
	return most
}

// largest returns the share with the most decisions.
func (k *kind) largest() *share {
	s := &k.shares[0]
	for i := range k.shares {
		if k.shares[i].count > s.count {
			s = &k.shares[i]
		}
	}
	return s
}

// shift takes the oldest of a share out of it and returns its entry.
func (b *book) shift(k *kind, s *share) int32 {
	i := s.first
	s.first = b.entries[i].next
	s.count--
	k.count--
	return i
}

// shareOf returns the share that a tenant is of (FNV-1a).
func shareOf(tenant string) int {
	h := uint32(2166136261)
	for i := range min(len(tenant), tenantMax) {
		h = (h ^ uint32(tenant[i])) * 16777619
	}
	return int((h ^ h>>16) % shares)
}
