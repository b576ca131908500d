package pool

import (
	"math"
	"strings"

	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/tally"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Tenant is one party to fairness in one class.
type Tenant struct {
	Name  string
	Tally tally.Tally
	// Calendar is the next instant promised to a refused request of this
	// tenant.
	Calendar unit.Instant
	// Standing is its latest refusal for a full room.
	Standing Standing

	// Shadow is the account of its requests that run whatever is decided of
	// them; nil where there never was one.
	Shadow *tally.Shadow
	// Kept keeps the tenant from being forgotten while it is above 0.
	Kept int64
	// Streams is how many of its answers flow without a slot.
	Streams int
	// Budgets are those of which it has its own, as its boundary reckons them; nil
	// where there are none.
	Budgets *Budgets

	flow   fair.Flow
	queue  [1]list // all of the tenant's waiters
	levels []list  // the same by importance; nil where there is only one level

	turns    int64  // mean number of turns to its own next one, in fixed point; see part.go
	lastTurn uint64 // Room.turn of its last one

	dry            bool // it has no budget: it is not in the schedule
	idle           bool // in the list of the idle
	younger, older *Tenant
}

// Waiting returns how many of the tenant's requests are in the room.
func (t *Tenant) Waiting() int { return t.queue[0].len }

// lists returns the tenant's waiters by importance.
func (t *Tenant) lists() []list {
	if t.levels != nil {
		return t.levels
	}
	return t.queue[:]
}

// Weight returns the tenant's share relative to the others'.
func (t *Tenant) Weight() int64 { return t.flow.Weight }

// busy reports whether the tenant waits or holds a slot, or is to be kept.
func (t *Tenant) busy() bool {
	return t.Tally.Waiting+t.Tally.Running+t.Tally.Abandoned+t.Kept > 0
}

// Tenants remembers those who wait or run, and a bounded number of idle ones,
// the longest idle forgotten first. What a forgotten tenant counted is kept in
// Forgotten, so that sums close.
type Tenants struct {
	Forgotten       tally.Tally
	ForgottenShadow tally.Shadow

	cfg            TenantConfig
	levels         int // of importance
	known          map[string]*Tenant
	sole           *Tenant // the tenant "", without a look-up
	latest         *Tenant // who was looked up last, never among the idle: requests come in runs
	oldest, newest *Tenant // the idle, in the order in which they became so
	idle           int
}

func newTenants(cfg TenantConfig, levels int) Tenants {
	ts := Tenants{cfg: cfg, levels: levels, known: make(map[string]*Tenant)}
	ts.sole = ts.enter("")
	ts.latest = ts.sole
	return ts
}

// Get returns the tenant of that name, which is not forgotten before Settle
// has been called for it. It takes constant time and allocates only for a name
// that is not known.
func (ts *Tenants) Get(name string) *Tenant {
	if name == "" {
		return ts.sole
	}
	return ts.get(name[:min(len(name), NameMax)])
}

// NameMax bounds, in bytes, what of a tenant's name is told apart and kept, so
// that memory follows the number of tenants and not what they call themselves.
// An adapter that must tell longer names apart passes a hash of them.
const NameMax = 256

func (ts *Tenants) get(name string) *Tenant {
	if t := ts.latest; t.Name == name {
		return t
	}
	t := ts.known[name]
	switch {
	case t == nil:
		t = ts.enter(name)
	case t.idle:
		ts.unlist(t) // or settling somebody else's account could forget it
	}
	before := ts.latest
	ts.latest = t
	ts.Settle(before)
	return t
}

// Find returns the tenant of that name if it is remembered.
func (ts *Tenants) Find(name string) *Tenant { return ts.known[name] }

// Each calls f for every remembered tenant, in no particular order: for
// counting and showing, never for deciding.
func (ts *Tenants) Each(f func(*Tenant)) {
	for _, t := range ts.known { // order does not matter: the callers sort or sum
		f(t)
	}
}

// Len returns how many tenants are remembered.
func (ts *Tenants) Len() int { return len(ts.known) }

// Settle files t among the idle or takes it from them, after its counts
// changed. It is called once at the end of each event that touched t.
func (ts *Tenants) Settle(t *Tenant) {
	if t != ts.sole && t != ts.latest {
		ts.settle(t)
	}
}

func (ts *Tenants) settle(t *Tenant) {
	switch busy := t.busy(); {
	case busy && t.idle:
		ts.unlist(t)
	case !busy && !t.idle:
		ts.list(t)
		ts.Trim()
	}
}

func (ts *Tenants) keep() int {
	if ts.cfg.Keep > 0 {
		return ts.cfg.Keep
	}
	return KeepDefault
}

func (ts *Tenants) enter(name string) *Tenant {
	t := &Tenant{Name: strings.Clone(name)} // not the header or URL it was cut from
	t.flow.Owner = t
	t.levels = ts.newLevels()
	ts.configure(t, nil)
	ts.known[t.Name] = t
	return t
}

// newLevels returns a tenant's lists by importance, or nil where there is only
// one level.
func (ts *Tenants) newLevels() []list {
	if ts.levels <= 1 {
		return nil
	}
	return make([]list, ts.levels)
}

// Trim forgets the longest idle until no more are remembered than may be.
func (ts *Tenants) Trim() {
	for ts.idle >= ts.keep() { // the latest is one more
		ts.forget(ts.oldest)
	}
}

// configure reads t's weight and rank from the configuration.
func (ts *Tenants) configure(t *Tenant, s fair.Scheduler) {
	weight, rank := int64(1), math.MaxInt
	if w, ok := ts.cfg.Weights[t.Name]; ok {
		weight = int64(max(w, 1))
	}
	if r, ok := ts.cfg.Ranks[t.Name]; ok {
		rank = r
	}
	if s == nil {
		t.flow.Weight, t.flow.Rank = min(weight, fair.WeightMax), rank
		return
	}
	s.Set(&t.flow, weight, rank)
}

func (ts *Tenants) list(t *Tenant) {
	t.idle = true
	t.older = ts.newest
	if ts.newest != nil {
		ts.newest.younger = t
	} else {
		ts.oldest = t
	}
	ts.newest = t
	ts.idle++
}

func (ts *Tenants) unlist(t *Tenant) {
	if t.older != nil {
		t.older.younger = t.younger
	} else {
		ts.oldest = t.younger
	}
	if t.younger != nil {
		t.younger.older = t.older
	} else {
		ts.newest = t.older
	}
	t.idle, t.younger, t.older = false, nil, nil
	ts.idle--
}

func (ts *Tenants) forget(t *Tenant) {
	ts.unlist(t)
	ts.Forgotten.Add(&t.Tally)
	if t.Shadow != nil {
		ts.ForgottenShadow.Add(t.Shadow)
	}
	delete(ts.known, t.Name)
}
