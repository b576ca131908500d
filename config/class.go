package config

// Class is a criticality class: which requests it takes, its pool of an upstream's
// slots, its waiting room, and what its requests are told.
type Class struct {
	Name        string     `yaml:"-"`
	Match       Match      `yaml:"match" doc:"Which requests are of this class; all that is written must fit. Without it, every request."`
	Upstream    string     `yaml:"upstream" doc:"Name of the upstream that serves it. May be left out where there is only one."`
	Slots       Slots      `yaml:"slots" default:"20" min:"1" max:"1000000" large:"10000" doc:"How many of its requests may run at once: a fixed number, or the range of an adaptive one."`
	Borrow      int        `yaml:"borrow" default:"0" min:"0" max:"1000000" large:"10000" doc:"How many idle slots of other classes on the same upstream it may use besides its own."`
	Budget      Budget     `yaml:"budget" doc:"What a request may take; the waiting room's bound follows: (latency - service) x throughput."`
	Memory      Memory     `yaml:"memory" doc:"What waiting requests may hold; cuts the bound."`
	Order       Order      `yaml:"order" default:"adaptive" doc:"Who is next inside a tenant's queue: oldest first (fifo), newest first (lifo), or oldest first until the oldest has waited twice the allowed wait, which proves the prediction wrong, and newest first from then on (adaptive). What its deadline ends sooner never turns it."`
	MaxAge      Duration   `yaml:"max_age" min:"1ms" max:"24h" doc:"With lifo or adaptive: how long an old request may be passed over before it is served or refused for good. Default: until its deadline."`
	WhenFull    WhenFull   `yaml:"when_full" default:"reject" doc:"What becomes of a request for which the waiting room has no place."`
	Deadline    Duration   `yaml:"deadline" default:"30s" min:"1ms" max:"24h" large:"10m" doc:"How long a request may take in all if the caller names none."`
	MaxDeadline Duration   `yaml:"max_deadline" default:"5m" min:"1ms" max:"24h" large:"1h" doc:"The longest deadline a caller may name; a longer one is cut to it."`
	Feasible    Switch     `yaml:"feasible" default:"on" doc:"Refuse at once what cannot be answered inside its deadline even by the optimistic prediction."`
	Abandoned   Abandoned  `yaml:"abandoned" doc:"Work that goes on after its caller was answered."`
	Streams     Streams    `yaml:"streams" doc:"Answers that go on for long: how many, and how long."`
	Importance  Importance `yaml:"importance" doc:"An order within the class: who is displaced first."`
	Tenant      Tenant     `yaml:"tenant" doc:"Whom slots are shared fairly between. Default: one tenant for all."`
	Quota       Words      `yaml:"quota" items:"8" doc:"Name of the quota that its requests are charged to, or of several that all must have room."`
	Clients     ClientRule `yaml:"clients" doc:"What one client may ask of this class, instead of clients at the top of the file and counted apart from it."`
	Session     Session    `yaml:"session" doc:"Whose experience must not flicker."`
	Call        Call       `yaml:"call" doc:"How the upstream is called. What its rules count (retry and hedge budgets, breaker, throttle) is counted for each class by itself, also where several use one upstream: what one class asks and breaks takes no retry from another and stops nobody else's calls, and shares of each add up to the same share of all. A copy that fails everybody is eject's to leave out."`
	Keys        Switch     `yaml:"keys" default:"off" doc:"Whether a request with an Idempotency-Key is done once: its answer is kept, and given again to whoever brings the same key with the same request. Needs a ledger; see jobs for how long and how large."`
	Repeat      Switch     `yaml:"repeat" default:"off" doc:"Whether what may have been done may be done again, where nobody can say. on: for work that does no harm twice. Without it that is so for GET, HEAD, OPTIONS, PUT and DELETE, and for an upstream that honours keys (upstreams.NAME.honours_keys)."`
	Operator    Operator   `yaml:"operator" doc:"What an operator's signal does to it; see docs/operate.md."`
	Mode        Mode       `yaml:"mode" default:"enforce" doc:"Which decisions are carried out: all (enforce), none while they are made and counted (shadow), those about a share of sessions (10%), or none at all (off). Sessions are told apart by session.key, without it by tenant, without that each request is one."`
	Expect      Expect     `yaml:"expect" doc:"What plan checks the class against. Changes nothing at run time."`
	Ladder      []Rung     `yaml:"ladder" items:"16" doc:"Cheaper answers below the primary, best first."`
	Gap         Gap        `yaml:"gap" doc:"How much worse the cheaper answer is for this request, 0 (same) to 1 (useless): under load those lose their full answer first that lose least by it. Default: all are alike."`
	Shed        Shed       `yaml:"shed" doc:"Who is answered from the ladder when not all can be served: before anybody waits, whoever has the smallest gap, sessions of one gap by a slice of them. off: nobody, as long as there is room to wait. Default: on where the class has a ladder, else off."`
}

// Match is which requests are of a class.
type Match struct {
	Path    Words             `yaml:"path" items:"100" doc:"Path, or several of which one must fit: exact, or with a final * that matches any rest. /checkout/* does not match /checkout itself."`
	Method  Words             `yaml:"method" items:"100" doc:"Method, or several, in capitals."`
	Host    Words             `yaml:"host" items:"100" doc:"Host without port, or several: exact, or *.example.com for every name below it."`
	Headers map[string]string `yaml:"headers" items:"100" doc:"Headers that must be there, each with its value: exact, or with a final * that matches any rest; * alone is any value."`
	Expr    string            `yaml:"expr" doc:"A CEL expression over the request that gives true or false; see docs/gap.md for what it may say. It is asked only if everything else fits; one that cannot be worked out does not fit."`
}

// Slots is a fixed number or the range of an adaptive one. The zero Slots is the default.
type Slots struct {
	Fixed int `yaml:"-"`
	Min   int `yaml:"min" min:"1" max:"1000000" doc:"The fewest slots the class is guaranteed, however low the limit of its upstream falls. Default: 1."`
	Max   int `yaml:"max" min:"1" max:"1000000" large:"10000" doc:"The most it may hold. Default: 1000."`
	Start int `yaml:"start" min:"1" max:"1000000" doc:"What its part of the limit is before anything was measured; it doubles while latency stands still. Default: 20."`
}

// Adaptive reports whether a range was written.
func (s Slots) Adaptive() bool { return s.Min != 0 || s.Max != 0 || s.Start != 0 }

// Most is the most that may be held.
func (s Slots) Most() int { return max(s.Fixed, s.Max) }

// Budget is what a request may take, waiting and being served.
type Budget struct {
	Latency Duration `yaml:"latency" min:"1us" max:"24h" doc:"What the class aims at, wait and service together. Default: deadline."`
	Service Duration `yaml:"service" min:"1us" max:"24h" doc:"Service time to count with. Default: measured while running."`
}

// Memory is what waiting requests may hold.
type Memory struct {
	Limit      Bytes `yaml:"limit" default:"64MiB" min:"1KiB" large:"16GiB" doc:"In all."`
	PerRequest Bytes `yaml:"per_request" default:"64KiB" min:"1B" doc:"What one counts with that declares no size."`
}

// WhenFull is what becomes of a request for which there is no place.
type WhenFull struct {
	Policy FullPolicy `yaml:"-"` // always set where something was written
	Block  Duration   `yaml:"block" min:"1ms" max:"10m" doc:"Hold the caller this long for a place, then refuse with block_timeout."`
	Drop   int        `yaml:"drop" doc:"As drop, answered with this status: 503 (with x-should-retry: false) or 204."`
}

// FullPolicy is one of the ways to treat a request for which there is no place.
type FullPolicy string

// What can be done when the waiting room is full.
const (
	FullReject     FullPolicy = "reject"      // refuse it: queue_full
	FullDrop       FullPolicy = "drop"        // throw it away, counted apart: dropped
	FullDropOldest FullPolicy = "drop_oldest" // throw the oldest waiter away, take it in
	FullDisplace   FullPolicy = "displace"    // evict the newest less important waiter; else refuse it
	FullPersist    FullPolicy = "persist"     // make it a job
	FullBlock      FullPolicy = "block"       // hold the caller for WhenFull.Block
)

// Abandoned is what to do about work whose caller was answered already.
type Abandoned struct {
	HoldAtMost Duration `yaml:"hold_at_most" default:"30s" min:"1ms" max:"24h" doc:"How long it keeps its slot if it does not end; then the slot is taken back and counted."`
	Cancel     Switch   `yaml:"cancel" default:"off" doc:"on: the call to the upstream is broken off when its caller was answered or has gone, and its slot is free at once; right for an upstream that stops working then. off: the call goes on unseen and holds its slot until it ends, so that the upstream never has more to do than it has slots."`
}

// Importance is an order within a class.
type Importance struct {
	Key    Key   `yaml:"key" required:"true" doc:"What names a request's level."`
	Levels Words `yaml:"levels" items:"16" required:"true" doc:"The levels, most important first. Any other value, or none, counts as the last."`
}

// Tenant is whom slots are shared fairly between.
type Tenant struct {
	Key     Key            `yaml:"key" required:"true" doc:"What names a request's tenant. Requests without it are one tenant together."`
	Policy  Fairness       `yaml:"policy" default:"drr" doc:"Which tenant is next."`
	Weights map[string]int `yaml:"weights" min:"1" max:"10000" doc:"Share of a tenant against the others, for wrr and drr. Tenants not named weigh 1."`
	Queue   int            `yaml:"queue" min:"1" max:"1000000" large:"100000" doc:"How many of one tenant's requests may wait. Default: its part of the room, which is its measured part of the service."`
	Order   Words          `yaml:"order" doc:"For policy priority: tenants, first served first; those not named come last."`
	Cost    Key            `yaml:"cost" doc:"For policy drr: what names a request's cost, a whole number from 1. Default: measured service time."`
}

// Session is whose experience must not flicker.
type Session struct {
	Key  Key      `yaml:"key" required:"true" doc:"What names a request's session."`
	Span Duration `yaml:"span" default:"30s" min:"1ms" max:"24h" doc:"How long a session keeps what was decided about it when not all could be served: each is moved once in that time, at a moment of its own."`
}

// Expect is what plan checks a class against.
type Expect struct {
	Rate            float64    `yaml:"rate" min:"0" max:"1e9" doc:"Arrivals a second."`
	CallersAttempts []int      `yaml:"callers_attempts" min:"1" max:"100" items:"16" doc:"Attempts in each layer above, outermost first: [3, 3] is up to nine requests for one."`
	CallersTimeouts []Duration `yaml:"callers_timeouts" min:"1ms" max:"24h" items:"16" doc:"How long each layer above waits, outermost first. Each must outlast the one below it, and the last this class's deadline."`
}
