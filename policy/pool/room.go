package pool

import (
	"time"

	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Room is where requests wait: bounded in number and in bytes. Who leaves next
// is decided in this order: the fairness policy names the tenant, of the
// tenant's waiters the most important go first, and among those the class's
// order decides. Entering, leaving from anywhere, and choosing the next take
// constant time (under priority and drr: logarithmic in the tenants that wait).
type Room struct {
	bound     int // how many may wait
	queue     int // how many of one tenant may; 0: as many as its part, see part.go
	parted    bool
	bytesMax  int64         // what may be retained; math.MaxInt64: no bound
	bytesEach int64         // what a request retains that declares nothing
	patience  time.Duration // the age of the oldest beyond which the newest goes first
	spare     time.Duration // what the oldest must have left, or the newest goes first
	maxAge    time.Duration // at which a waiter is refused for good; 0 or less: at its deadline
	scheduler fair.Scheduler
	levels    []list
	halves    bool // of each level: first tries, then retries; see retry.go
	waiting   int
	dry       int // of those who wait, how many are of a dry tenant; see dry.go
	bytes     int64
	blocked   list
	turn      uint64 // counts the slots that went to waiters
}

func newRoom(cfg Config) Room {
	return Room{
		scheduler: fair.New(cfg.Tenants.Policy),
		levels:    make([]list, cfg.levels()),
		halves:    cfg.RetriesLast,
	}
}

// Waiting returns how many requests are in the room.
func (r *Room) Waiting() int { return r.waiting }

// Bytes returns what they retain.
func (r *Room) Bytes() int64 { return r.bytes }

// Blocked returns how many producers are held before the room.
func (r *Room) Blocked() int { return r.blocked.len }

// Bound returns how many may wait.
func (r *Room) Bound() int { return r.bound }

// Charge returns what a request counts as retaining while it waits: what it
// declares, or, where it declares nothing, what the configuration says that a
// request takes. So all of them together stay inside the memory limit.
func (r *Room) Charge(declared int64) int64 {
	if declared <= 0 {
		return r.bytesEach
	}
	return min(declared, chargeMax)
}

// chargeMax bounds what a single request may be said to retain, so that sums
// stay far from overflow.
const chargeMax = 1 << 40

// Fits reports whether a request that would retain so many bytes could enter
// if nobody else waited.
func (r *Room) Fits(bytes int64) bool { return bytes <= r.bytesMax }

// Full returns why a request of t that would retain so many bytes cannot
// enter, or reason.None if it can.
func (r *Room) Full(t *Tenant, bytes int64) reason.Reason {
	switch {
	case !r.Fits(bytes):
		return reason.QueueBytes
	case r.queue > 0 && t.Tally.Waiting >= int64(r.queue):
		return reason.TenantFull
	case r.parted && t.fillsPart(r.bound) && (r.waiting < r.bound || r.waiting > t.Waiting()):
		return reason.TenantFull // where all are its own, it is the room that is full
	}
	return r.full(bytes)
}

// full is Full for whatever tenant.
func (r *Room) full(bytes int64) reason.Reason {
	switch {
	case r.waiting >= r.bound:
		return reason.QueueFull
	case r.bytes+bytes > r.bytesMax:
		return reason.QueueBytes
	}
	return reason.None
}

// Enter takes the item into the room.
func (r *Room) Enter(it *Item) {
	it.State, it.turn = Waiting, r.turn
	t := it.Tenant
	if r.scheduler != nil && t.queue[0].len == 0 {
		r.join(t)
	}
	t.queue[0].add(it, byTenant)
	r.levels[it.Importance].add(it, byLevel)
	if t.levels != nil {
		t.levels[it.Importance].add(it, byTenantLevel)
	}
	r.entered(it)
}

// Remove takes a waiting or blocked item out, wherever it stands.
func (r *Room) Remove(it *Item) {
	if it.State == Blocked {
		r.blocked.remove(it, byBlocked)
		return
	}
	t := it.Tenant
	t.queue[0].remove(it, byTenant)
	r.levels[it.Importance].remove(it, byLevel)
	if t.levels != nil {
		t.levels[it.Importance].remove(it, byTenantLevel)
	}
	if r.scheduler != nil && t.queue[0].len == 0 {
		r.scheduler.Leave(&t.flow)
	}
	r.waiting--
	r.bytes -= it.Bytes
	if t.dry {
		r.dry--
	}
}

// OverAge returns when a waiter is answered, served or not: at its deadline, or
// when it has been passed over for as long as it may.
func (r *Room) OverAge(it *Item) unit.Instant {
	if r.maxAge > 0 {
		return min(it.Deadline, it.Offered.Add(r.maxAge))
	}
	return it.Deadline
}

// Hold keeps the producer of the item before the room.
func (r *Room) Hold(it *Item) {
	it.State, it.predicted = Blocked, 0
	r.blocked.add(it, byBlocked)
}

// Admit moves the longest blocked producer into the room, if there is one and
// it fits, and returns it. Into an empty room it fits always, or one whose bound
// has fallen to zero meanwhile would be held beside free slots.
func (r *Room) Admit() *Item {
	it := r.blocked.head
	if it == nil || r.waiting > 0 && r.full(it.Bytes) != reason.None {
		return nil
	}
	r.blocked.remove(it, byBlocked)
	r.Enter(it)
	return it
}

// Next returns the item whose turn it is, or nil. The item stays in the room
// until Take.
func (r *Room) Next(now unit.Instant) *Item {
	levels := r.levels
	if r.scheduler != nil {
		f := r.scheduler.Next()
		if f == nil {
			return nil
		}
		levels = f.Owner.(*Tenant).lists()
	}
	for i := range levels {
		if q := &levels[i]; q.head != nil {
			if r.newestFirst(q, now) {
				return q.tail
			}
			return q.head
		}
	}
	return nil
}

// Take takes the item that Next returned out of the room, to run, and charges
// its tenant.
func (r *Room) Take(it *Item) {
	if r.scheduler != nil {
		r.scheduler.Serve(&it.Tenant.flow, it.Cost)
		r.turn++
		it.Tenant.took(it.turn, r.turn)
	}
	r.Remove(it)
}

// newestFirst reports whether the queue is to be served from its new end. The
// machine's instants are never negative, and who waits has its deadline ahead: the
// differences cannot overflow.
func (r *Room) newestFirst(q *list, now unit.Instant) bool {
	return q.head != nil && (time.Duration(now-q.head.Offered) > r.patience || time.Duration(q.head.Deadline-now) < r.spare)
}

// Oldest returns the first waiter to have arrived, over all levels, or nil.
func (r *Room) Oldest() *Item {
	first := r.levels[0].head
	for i := 1; i < len(r.levels); i++ {
		if it := r.levels[i].head; it != nil && (first == nil || it.Seq < first.Seq) {
			first = it
		}
	}
	return first
}

// ahead returns how many waiters are sure to leave before an arrival of t with
// that importance: the optimistic count, on which nobody is refused who could
// have made it. In one queue that is all who are as important or more. Fairly
// scheduled, it is those of the arrival's own tenant, since the others may leave.
// Newest first, it is only those who are more important.
func (r *Room) ahead(t *Tenant, importance uint8, now unit.Instant) int {
	levels := r.levels
	if r.scheduler != nil {
		levels = t.lists()
	}
	n, q := 0, &levels[importance]
	for i := range levels[:importance] {
		n += levels[i].len
	}
	if !r.newestFirst(q, now) {
		n += q.len
	}
	return n
}

// BytesMax returns the most that a request may retain that is to enter an empty
// room.
func (r *Room) BytesMax() int64 { return r.bytesMax }
