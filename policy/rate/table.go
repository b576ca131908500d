package rate

import (
	"math/bits"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Key stands for a client: a hash of its name or address that the driver has
// salted. The zero Key stands for nobody and is not limited.
type Key uint64

// In returns the client's key within a budget of its own: a class that has its
// own rule counts apart from all others. A budget is known by a number that is the
// same wherever it is used, such as chance.Key of the class's name.
func (k Key) In(budget uint64) Key {
	return max(Key(chance.Mix(uint64(k)+budget*0x9e3779b97f4a7c15)), 1)
}

// ways is how many places a set has: two cache lines. With more, less is
// forgotten early and asking costs more.
const ways = 4

// Bounds of Table sizes, in clients.
const (
	// EntriesDefault is 8 MiB, and ten times the addresses that one machine
	// has been seen to serve at once.
	EntriesDefault = 1 << 18
	// EntriesMax is 512 MiB.
	EntriesMax = 1 << 24
)

// Table remembers who has asked how much. Create it with NewTable.
type Table struct {
	sets  [][ways]entry
	early int64
}

// entry is one client. 32 bytes.
type entry struct {
	key      Key
	full     unit.Instant // when its bucket is full again
	promised unit.Instant // the latest instant that a refusal was told
	held     int32        // requests under way
	interval float32      // of the rule that full is by, in nanoseconds
}

// NewTable returns a table for that many clients, rounded up to a power of two:
// 32 bytes each. Zero or less is EntriesDefault, the most is EntriesMax.
func NewTable(entries int) *Table {
	return &Table{sets: make([][ways]entry, setsFor(entries))}
}

func setsFor(entries int) int {
	if entries <= 0 {
		entries = EntriesDefault
	}
	sets := (min(entries, EntriesMax) + ways - 1) / ways
	return 1 << bits.Len(uint(sets-1))
}

// Entries returns how many clients the table can tell apart.
func (t *Table) Entries() int { return len(t.sets) * ways }

// Early returns how many clients were forgotten before their bucket was full:
// each may have had one burst more than its rule allows. Steadily rising it says
// that the table is too small for those who are active at once.
func (t *Table) Early() int64 { return t.early }

// Verdict is what the table says to one request.
type Verdict struct {
	// Refused is whether the request is one too many, Busy whether that is
	// because of those under way and not of the time.
	Refused, Busy bool
	// After is when the client's next request will be admitted, if it is the
	// time that refuses it: the instant that was told to this refusal and to no
	// other, unless it is the most that may be told.
	After time.Duration
}

// Ask says whether client k may make one more request now, and takes it out of
// its bucket if so; refused requests cost nothing. No refusal is told to come
// back later than after most.
func (t *Table) Ask(now unit.Instant, k Key, r *Rule, most time.Duration) Verdict {
	if k == 0 || r.IsZero() {
		return Verdict{}
	}
	e := t.entry(now, k)
	switch {
	case e == nil:
		return Verdict{}
	case r.Concurrent > 0 && e.held >= r.Concurrent:
		return Verdict{Refused: true, Busy: true}
	case r.Interval <= 0:
		return Verdict{}
	}
	full := e.under(r, now)
	if at := full.Add(-r.slack()); at > now {
		return Verdict{Refused: true, After: e.promise(now, at, r.Interval, most)}
	}
	e.full = full.Add(r.Interval)
	return Verdict{}
}

// under returns when the client's bucket is full again by the rule, or now. If
// the rule has another interval than before, as many requests are owed as were: a
// reload refills no bucket.
func (e *entry) under(r *Rule, now unit.Instant) unit.Instant {
	by := float32(r.Interval)
	if e.interval != by && e.full > now && e.interval > 0 {
		owed := float64(e.full.Sub(now)) / float64(e.interval)
		e.full = now.Add(time.Duration(min(float64(owed*float64(by)), slackMax)))
	}
	e.interval = by
	return max(e.full, now)
}

// promise returns when one more refused request is to come back: no earlier
// than at, and an interval after the one refused before it.
func (e *entry) promise(now, at unit.Instant, interval, most time.Duration) time.Duration {
	at = max(at, e.promised.Add(interval))
	after := at.Sub(now)
	if after > most {
		return most
	}
	e.promised = at
	return after
}

// Hold notes that a request of k is under way, until Release. It reports
// whether that is remembered; if not, there is nothing to release.
func (t *Table) Hold(k Key) bool {
	e := t.find(k)
	if e == nil {
		return false
	}
	e.held++
	return true
}

// Release takes back one Hold that was remembered.
func (t *Table) Release(k Key) {
	if e := t.find(k); e != nil && e.held > 0 {
		e.held--
	}
}

// Resize makes the table one for that many clients. Those it has room for keep
// their buckets; where too many share a set of the new one, the busiest stay.
func (t *Table) Resize(entries int) {
	if setsFor(entries) == len(t.sets) {
		return
	}
	old := t.sets
	t.sets = make([][ways]entry, setsFor(entries))
	for i := range old {
		for _, was := range old[i] {
			if was.key == 0 {
				continue
			}
			if to := t.victim(was.key); to != nil && (to.key == 0 || to.full < was.full || was.held > 0) {
				*to = was
			}
		}
	}
}

// entry returns the client's place, one that was another's if need be; nil if
// there is none to be had.
func (t *Table) entry(now unit.Instant, k Key) *entry {
	if e := t.find(k); e != nil {
		return e
	}
	e := t.victim(k)
	if e == nil {
		return nil
	}
	if e.full > now {
		t.early++
	}
	*e = entry{key: k}
	return e
}

func (t *Table) find(k Key) *entry {
	if k == 0 {
		return nil
	}
	s := t.set(k)
	for i := range s {
		if s[i].key == k {
			return &s[i]
		}
	}
	return nil
}

// victim returns the place in the client's set whose loss costs the least: a
// free one, or that of the client whose bucket is full the soonest, the first
// of equals. Those who have requests under way keep theirs.
func (t *Table) victim(k Key) *entry {
	s := t.set(k)
	var least *entry
	for i := range s {
		switch e := &s[i]; {
		case e.key == 0:
			return e
		case e.held > 0:
		case least == nil || e.full < least.full:
			least = e
		}
	}
	return least
}

func (t *Table) set(k Key) *[ways]entry { return &t.sets[uint64(k)&uint64(len(t.sets)-1)] }
