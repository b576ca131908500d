package decisions

import (
	"cmp"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
)

// Query says which decisions are asked for. Every field that is set must match;
// the zero value matches all.
type Query struct {
	ID     string // exactly
	Class  string
	Tenant *string // nil: any; "" is a tenant too
	Reason reason.Reason
	Since  time.Time
	// Limit is how many are returned at most, the newest; 0: LimitDefault.
	Limit int
}

// LimitDefault and LimitMost are how many decisions Find returns unless asked for
// another number, and at most.
const (
	LimitDefault = 20
	LimitMost    = 1000
)

// stretch is how many entries are looked at before requests have their turn at
// the lock: some ten microseconds' worth.
const stretch = 64

// Find returns the decisions that match, the newest first. It looks at all that
// are kept, and holds nobody up for longer than a few of them take.
func (l *Log) Find(q Query) []Decision {
	if l == nil {
		return []Decision{}
	}
	l.resizing.RLock()
	defer l.resizing.RUnlock()
	l.forgetAll(time.Now().UnixNano())
	limit := min(cmp.Or(max(q.Limit, 0), LimitDefault), LimitMost)
	var found []entry
	for from := 0; from < len(l.entries); from += stretch {
		found = l.match(&q, from, min(from+stretch, len(l.entries)), found)
		if len(found) > 2*LimitMost {
			found = newest(found, limit)
		}
	}
	all := make([]Decision, 0, min(len(found), limit))
	for _, e := range newest(found, limit) {
		all = append(all, e.show())
	}
	return all
}

func newest(found []entry, limit int) []entry {
	slices.SortFunc(found, func(a, b entry) int { return cmp.Compare(b.seq, a.seq) })
	return found[:min(len(found), limit)]
}

func (l *Log) match(q *Query, from, to int, found []entry) []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := from; i < to; i++ {
		if e := &l.entries[i]; e.seq != 0 && q.matches(e) {
			found = append(found, *e)
		}
	}
	return found
}

func (q *Query) matches(e *entry) bool {
	return (q.ID == "" || q.ID == string(e.id[:e.idLen])) &&
		(q.Class == "" || q.Class == e.kind.class) &&
		(q.Tenant == nil || (*q.Tenant)[:min(len(*q.Tenant), tenantMax)] == string(e.tenant[:e.nameLen])) &&
		(q.Reason == reason.None || q.Reason == e.kind.reason) &&
		(q.Since.IsZero() || e.at >= q.Since.UnixNano())
}
