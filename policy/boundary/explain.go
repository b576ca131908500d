package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Stage is where on its way a request was when it was decided.
type Stage uint8

// The stages.
const (
	AtOffer Stage = iota // refused when it was offered
	InRoom               // while it waited
	Running              // while it ran: its deadline passed
)

var stageNames = [...]string{"offer", "room", "running"}

// String returns the stage's name.
func (s Stage) String() string { return stageNames[s] }

// Case is why one request was not answered in full: the state that it met, and
// what would have let it through. It is a value of fixed size, but for the
// tenant's name, which is somebody else's memory: whoever keeps a case copies it.
type Case struct {
	At     unit.Instant
	Stage  Stage
	Reason reason.Reason
	// Room is, at the offer, why the room had no place, whatever rule made the
	// reason of it; reason.None if the room was not what refused.
	Room reason.Reason
	// Gap and Kept are the request's, and Shed what the class's law found, where
	// it has one.
	Gap        shed.Gap
	Kept       bool
	Shed       shed.State
	Shadow     bool // it was not carried out: the request ran
	Ticket     Ticket
	Class      int
	Tenant     string
	Importance int
	Retry      bool
	Bytes      int64 // what it is charged with retaining

	// The class and its resource.
	Used, Slots, Most int         // of the class: held, guaranteed, with all that may be borrowed
	AllUsed, AllSlots int         // of the resource
	Limit             limit.State // by which AllSlots was found
	Waiting, Blocked  int
	Bound             int
	BoundFrom         plan.BoundFrom
	RoomBytes         int64
	RoomBytesMax      int64 // 0: no limit

	// Its tenant in the class.
	TenantWaiting, TenantMost int // TenantMost 0: only the room bounds it
	TenantWeight              int64

	// Time.
	Left        time.Duration // until its deadline; less than 0 once that has passed
	DeadlineMax time.Duration // the class's cap on what a caller may name
	Predicted   time.Duration // the wait, at the least
	Needed      time.Duration // what serving takes; 0 while that is not known
	Waited      time.Duration
	Held        time.Duration // a slot
	RetryAfter  time.Duration

	Instead Instead
}

// Instead is what would have let the request through: each figure alone, with
// all else as it was. 0 says that no figure would have, or that none is known.
//
// For a request that was refused when it was offered they are exact in this
// sense: with that figure in force the same request, offered in the same state, is
// not refused for that reason. They come of the predicates that refused. For one
// that was in the room or running, Deadline is an estimate.
type Instead struct {
	Slots       int           // guaranteed to the class; where the limit is fixed
	Floor       int           // the class's, whatever is measured; where it adapts
	Bound       int           // of the room
	MemoryLimit int64         // of the room, in bytes
	TenantQueue int           // as the tenant's own bound
	Weight      int64         // of the tenant; an estimate, and in the long run
	Deadline    time.Duration // from its offer; above DeadlineMax only with a higher cap
	FirstTry    bool          // it was refused as a retry
	// Gap of the request with which it would not have been shed; Slots is an
	// estimate for what was.
	Gap shed.Gap
}

// Explain returns the case of an offer that has just been refused, or, in a class
// in shadow, would have been: it is to be called before any other event. It
// changes nothing, takes constant time and allocates nothing.
func (m *Machine) Explain(now unit.Instant, r *Request, v Verdict, x *Case) {
	c := m.classes[r.Class]
	t := c.Find(r.Tenant[:min(len(r.Tenant), pool.NameMax)])
	if t == nil {
		t = c.sole // forgotten again since: as if it had named none
	}
	now = max(m.now, now)
	level := c.Level(r.Importance, r.Retry)
	deadline := c.Governs(now, r.Deadline)
	m.describe(now, c, t, x)
	x.Stage, x.Reason, x.Shadow = AtOffer, v.Reason, v.Kind != Refuse
	x.Tenant, x.Importance, x.Retry, x.Bytes = r.Tenant, c.Importance(level), r.Retry, c.Charge(r.Bytes)
	x.Left, x.RetryAfter = deadline.Sub(now), v.RetryAfter
	x.Needed = c.NeededToWait()
	if idle := c.Waiting() == 0 && m.idle(c); idle {
		x.Needed = c.RunTime()
	} else {
		x.Predicted = c.PredictWait(t, level, now)
	}
	if v.Reason == reason.RateLimited || r.Refuse != reason.None {
		return
	}
	m.instead(c, t, r, x)
}

// describe says what the class, its resource and the tenant are like.
func (m *Machine) describe(now unit.Instant, c *class, t *pool.Tenant, x *Case) {
	*x = Case{
		At: now, Class: c.index,
		Used: c.Used(), Slots: c.Own(), Most: c.Most(), AllUsed: m.used, AllSlots: m.limit, Limit: m.Limit(),
		Waiting: c.Waiting(), Blocked: c.Blocked(), Bound: c.Bound(), BoundFrom: c.BoundFrom(),
		RoomBytes: c.Bytes(), RoomBytesMax: max(c.Config().MemoryLimit, 0),
		TenantWaiting: t.Waiting(), TenantMost: c.MostOf(t), TenantWeight: t.Weight(),
		DeadlineMax: c.DeadlineMax,
	}
}

// instead works out what would have let an offer through, by the reason for which
// it was refused.
func (m *Machine) instead(c *class, t *pool.Tenant, r *Request, x *Case) {
	in := &x.Instead
	switch x.Reason {
	case reason.Expired, reason.Infeasible:
		in.Deadline = max(x.Predicted+x.Needed, 1)
		if x.Reason == reason.Infeasible && x.Left >= c.RunTime() {
			m.toStart(c, c.Waiting()+c.Blocked()+1, in)
		}
		return
	case reason.QueueFull, reason.QueueBytes, reason.TenantFull, reason.Dropped:
	case reason.ShedForLoad:
		c.explainShed(x.At, r, x)
		if m.limiter != nil { // which is not guaranteed: its floor is
			in.Slots, in.Floor = 0, min(in.Slots, c.Class.Pool.Slots)
		}
		return
	default:
		return
	}
	x.Room = c.Full(t, x.Bytes)
	retry := r.Retry && c.FullForRetries()
	if retry {
		in.FirstTry = x.Room == reason.None
		x.Room = reason.QueueFull
	}
	switch x.Room {
	case reason.QueueFull:
		if retry { // half of the room, and those who are blocked come first
			ahead := x.Waiting + x.Blocked
			in.Bound = 2*ahead + 1
			m.toStart(c, ahead-(x.Bound+1)/2+1, in)
			break
		}
		in.Bound = x.Waiting + 1
		m.toStart(c, max(x.Waiting-x.Bound, 0)+1, in)
	case reason.QueueBytes:
		charge := x.Bytes
		if r.Bytes <= 0 {
			charge = max(charge, c.Config().PerRequest)
		}
		in.MemoryLimit = x.RoomBytes + charge
	case reason.TenantFull:
		in.TenantQueue = int(t.Tally.Waiting) + 1
		if c.Config().Tenants.Queue <= 0 {
			in.Bound, in.Weight = c.BoundForPart(t), c.WeightForPart(t)
		}
	}
	if x.Room != reason.QueueFull && (x.Left >= c.RunTime() || c.AdmitHopeless) {
		m.toStart(c, c.Waiting()+c.Blocked()+1, in)
	}
	m.bound(c, x)
}

// bound strikes a bound out again that memory would cut, and says what memory
// it takes where that alone stands in the way.
func (m *Machine) bound(c *class, x *Case) {
	cfg, in := c.Config(), &x.Instead
	cut := cfg.MemoryLimit > 0 && cfg.PerRequest > 0 && cfg.MemoryLimit/cfg.PerRequest < int64(in.Bound)
	if cut && x.BoundFrom == plan.FromMemory && in.Bound == x.Bound+1 {
		in.MemoryLimit = max(in.MemoryLimit, int64(in.Bound)*cfg.PerRequest)
	}
	if cut || in.Bound > plan.MaxBound {
		in.Bound = 0
	}
}

// toStart says with which slots n more of the class would start at once, or with
// which floor, where slots are found by measurement.
func (m *Machine) toStart(c *class, n int, in *Instead) {
	switch {
	case c.Held || n <= 0:
	case m.limiter == nil:
		in.Slots = m.slotsToStart(c, n)
	default:
		in.Floor = m.floorToStart(c, n)
	}
}

// claims is how many others start before n more of the class: those who are below what
// they are guaranteed and, once nobody of the class waits any more, those who may borrow.
func (m *Machine) claims(c *class, n int) (claims int) {
	for _, o := range m.classes {
		if o == c || o.Held {
			continue
		}
		may := o.Own()
		if n > c.Waiting() {
			may = o.Most()
		}
		claims += max(min(o.Waiting()+o.Blocked(), may-o.Used()), 0)
	}
	return claims
}

// floorToStart returns what the class's floor would have to be for n more of it to
// start at once: as many slots are then its own, and the limit is no lower than all
// floors together.
func (m *Machine) floorToStart(c *class, n int) int {
	if m.pressure.Given() > 0 {
		return 0 // which takes from floors as well
	}
	others := 0
	for _, o := range m.classes {
		if o != c && !o.closed {
			others += o.least()
		}
	}
	floor := max(c.Used()+n, c.Own()+1)
	if all := m.used + n + m.claims(c, n); all > m.limit {
		floor = max(floor, all-others)
	}
	if floor > c.Class.Pool.Slots {
		return 0
	}
	return floor
}

// slotsToStart returns how many slots the class would have to be guaranteed for n
// more of it to start at once.
func (m *Machine) slotsToStart(c *class, n int) int {
	own, claims := 0, m.claims(c, n)
	for _, o := range m.classes {
		own += o.Own()
	}
	if own == 0 {
		return 0 // borrowers alone: what they share is no sum
	}
	slots := max(c.Used()+n, c.Own()+m.used+n+claims-m.limit, c.Own()+1)
	if slots > SlotsMax {
		return 0
	}
	return slots
}

// watch notes the case of an item that is answered while it waits or runs, before
// anything about it changes. Nobody watching, it is one comparison. Of a request
// that lives twice only what was said at its offer is told.
func (m *Machine) watch(now unit.Instant, it *pool.Item, why reason.Reason, out *Effects) {
	if !out.Watched || m.shadow != nil && m.shadow.at(Ticket(it.Ticket)) != nil {
		return
	}
	out.Cases = append(out.Cases, Case{})
	x := &out.Cases[len(out.Cases)-1]
	c, in := m.classes[it.Class], &x.Instead
	m.describe(now, c, it.Tenant, x)
	x.Stage, x.Reason, x.Ticket = InRoom, why, Ticket(it.Ticket)
	x.Tenant, x.Importance, x.Bytes = it.Tenant.Name, c.Importance(it.Importance), it.Bytes
	x.Left, x.Predicted, x.Waited = it.Deadline.Sub(now), it.Predicted(), now.Sub(it.Offered)
	x.Needed = c.TurnTime()
	switch {
	case it.State == pool.Running:
		x.Stage, x.Waited, x.Held = Running, it.Started.Sub(it.Offered), now.Sub(it.Started)
		x.Needed = c.ServiceTime()
		if d := x.Waited + x.Needed; d > it.Deadline.Sub(it.Offered) {
			in.Deadline = d
		}
	case why == reason.Expired:
		in.Deadline = x.Waited + max(x.Needed, 1)
		if x.Left <= 0 { // it was not its turn yet
			in.Deadline += c.PredictWait(it.Tenant, it.Importance, now)
		}
	case why == reason.Evicted && (c.Config().MaxAge <= 0 || x.Waited < c.Config().MaxAge):
		in.Bound = x.Waiting + 1
		m.toStart(c, max(x.Waiting-x.Bound, 0)+1, in)
	case why == reason.BlockTimeout:
		in.Bound = x.Waiting + x.Blocked
	}
}
