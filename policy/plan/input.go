package plan

import "time"

// Input is a config as plain values. Zero means "not given" throughout; the
// defaults of the config file are the caller's to fill in beforehand. Slices keep
// the order of the file, which is also the order of the warnings.
type Input struct {
	Upstreams []Upstream
	Classes   []Class
	Quotas    []Quota
	// Outage is how long the upstreams are taken to answer nothing where recovery is
	// worked out; 0: [DefaultOutage].
	Outage time.Duration
	// FalseTimeouts is the share of calls that a proposed timeout may cut off although
	// they would be answered; 0: [DefaultFalseTimeouts].
	FalseTimeouts float64
}

// Upstream is what is known of something that answers calls.
type Upstream struct {
	Name string
	// Kind is the word used for it in sentences: "upstream" (the default) or "dependency".
	Kind string
	// Slots is how many calls it works on at once, over all its copies; 0: not given.
	Slots int64
	// Service is the distribution of its service time; see [Constant].
	Service []ServicePart
	// StopsAtDeadline: it reads the deadline that travels to it and stops there.
	StopsAtDeadline bool
	// StopsAfter is when it gives a call up by itself; 0: never.
	StopsAfter time.Duration
	// HonoursKeys: it does a request with an idempotency key once.
	HonoursKeys bool
}

// Slots are a class's guaranteed slots: fixed, or found between two ends.
type Slots struct {
	// Min and Max are equal for a fixed number. Start is where an adaptive
	// limit begins; 0 means Min.
	Min, Start, Max int64
}

// Fixed is a number of slots that does not move.
func Fixed(n int64) Slots { return Slots{Min: n, Start: n, Max: n} }

// Adaptive is a number of slots that is found between min and max.
func Adaptive(min, start, max int64) Slots { return Slots{Min: min, Start: start, Max: max} }

func (s Slots) adaptive() bool { return s.Max > s.Min }

// Class is one class of requests and its pool.
type Class struct {
	Name     string
	Upstream string
	Slots    Slots
	Borrow   int64 // up to this many idle slots more; never counted on
	Budget   Budget
	Memory   Memory
	Bound    int64 // configured size of the waiting room; 0: derived
	// WhenFull is the config's word (reject, drop, block, persist, ...); Block is
	// how long block waits.
	WhenFull    string
	Block       time.Duration
	Deadline    time.Duration // if the caller names none
	MaxDeadline time.Duration // cap on what the caller may name
	Call        Call
	// Cancel frees the slot of a caller who was answered or has gone; HoldAtMost is
	// how long such work keeps it otherwise.
	Cancel     bool
	HoldAtMost time.Duration
	// Order is the config's word for who is next: fifo, lifo, adaptive; "" is adaptive.
	Order string
	// Posts: the class is said to take POST or PATCH, which may not run twice.
	Posts bool
	// Measured is what its calls took, where that is known.
	Measured Measured
	Rungs    []Rung   // below the primary, best first
	Quotas   []string // names of the quotas each request is charged to
	Tenants  Tenants
	Expect   Expect
}

// Budget is what a request may take in all, and how much of it is service.
type Budget struct{ Latency, Service time.Duration }

// Memory is what a waiting room may retain and the worst case of one request, in bytes.
type Memory struct{ Limit, PerRequest int64 }

// Tenants is whom a class's throughput is shared between.
type Tenants struct {
	// Policy is the config's word; fifo and priority promise no share, rr
	// ignores weights, wrr shares counts and drr shares cost.
	Policy string
	// Queue is the bound of each tenant's own queue; 0: none of its own.
	Queue int64
	// Named are the tenants taken to be backlogged at the same time.
	Named []Tenant
}

// Tenant is one tenant and its weight.
type Tenant struct {
	Name   string
	Weight int64
}

// Expect is what the plan checks a class against.
type Expect struct {
	// Rate is first tries per second; 0: not given.
	Rate float64
	// CallersAttempts is how often each layer above tries, outermost first.
	CallersAttempts []int
	// CallersTimeouts is how long each layer above waits, outermost first.
	CallersTimeouts []time.Duration
}

// Quota is what may be spent per time, of a provider. A limit of 0 is not given.
type Quota struct {
	Name          string
	RequestsPerS  float64
	TokensPerS    float64
	TokensBurst   float64 // most tokens that can be had at once
	TokensPerCall float64
	Concurrent    int64
	MeanCall      time.Duration // 0: the service time of the classes that use it
	Deadline      time.Duration // 0: the shortest deadline of the classes that use it
}
