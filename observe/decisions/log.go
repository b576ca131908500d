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

// Log is a memory of decisions. Create it with New; a nil one remembers nothing.
type Log struct {
	mu      sync.Mutex
	entries []entry
	unused  int32 // the first entry that has never been used
	kinds   map[kindKey]*kind
	order   []*kind // the same, in the order in which they were first seen
	most    *kind   // what there was most of when one had to go last
	seq     uint64
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
	return &Log{entries: make([]entry, keep), kinds: make(map[kindKey]*kind)}
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
	k := l.kinds[key]
	if k == nil {
		k = &kind{kindKey: key}
		l.kinds[key] = k
		l.order = append(l.order, k)
	}
	i := l.place(k)
	l.seq++
	e := &l.entries[i]
	e.seq, e.at, e.kind = l.seq, now, k
	e.idLen, e.nameLen = uint8(copy(e.id[:], id)), uint8(copy(e.tenant[:], x.Tenant))
	e.decision = *x
	e.decision.Tenant = ""
	s := &k.shares[part]
	if s.count == 0 {
		s.first = i
	} else {
		l.entries[s.last].next = i
	}
	s.last = i
	s.count++
	k.count++
}

// place returns an entry for one more of kind k.
func (l *Log) place(k *kind) int32 {
	if int(l.unused) < len(l.entries) {
		l.unused++
		return l.unused - 1
	}
	if k != l.most { // one that floods takes its own places over and over
		l.most = k // of equals, itself
		for _, o := range l.order {
			if o.count > l.most.count {
				l.most = o
			}
		}
	}
	most := l.most
	s := &most.shares[0]
	for i := range most.shares {
		if most.shares[i].count > s.count {
			s = &most.shares[i]
		}
	}
	i := s.first
	s.first = l.entries[i].next
	s.count--
	most.count--
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
