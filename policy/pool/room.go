package pool

import (
	"time"

	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Room is where requests wait: bounded in number and in bytes, left in an
// order that the fairness policy and the class's order decide together.
// Entering, leaving from anywhere, and choosing the next take constant time
// (choosing among ranks: logarithmic in the tenants that wait).
type Room struct {
	bound     int // how many may wait
	bytesMax  int64
	order     Order
	patience  time.Duration // the age of the oldest that turns adaptive order around
	scheduler fair.Scheduler
	levels    []list
	waiting   int
	bytes     int64
	blocked   list
}

func newRoom(cfg Config) Room {
	return Room{
		bytesMax:  max(cfg.MemoryLimit, 0),
		order:     cfg.Order,
		scheduler: fair.New(cfg.Tenants.Policy),
		levels:    make([]list, cfg.levels()),
	}
}

func (cfg *Config) levels() int { return min(max(cfg.Levels, 1), LevelsMax) }

// Waiting returns how many requests are in the room.
func (r *Room) Waiting() int { return r.waiting }

// Bytes returns what they retain.
func (r *Room) Bytes() int64 { return r.bytes }

// Blocked returns how many producers are held before the room.
func (r *Room) Blocked() int { return r.blocked.len }

// Bound returns how many may wait.
func (r *Room) Bound() int { return r.bound }

// Full returns why a request of t that would retain so many bytes cannot
// enter, or reason.None if it can. tenantBound is the tenant's own bound, 0 for
// none.
func (r *Room) Full(t *Tenant, tenantBound int, bytes int64) reason.Reason {
	switch {
	case tenantBound > 0 && t.Tally.Waiting >= int64(tenantBound):
		return reason.TenantFull
	case r.waiting >= r.bound:
		return reason.QueueFull
	case r.bytesMax > 0 && r.bytes+bytes > r.bytesMax:
		return reason.QueueBytes
	}
	return reason.None
}

// Enter takes the item into the room.
func (r *Room) Enter(it *Item) {
	it.State = Waiting
	t := it.Tenant
	if r.scheduler != nil && t.queue.len == 0 {
		r.scheduler.Join(&t.flow)
	}
	t.queue.add(it, byTenant)
	r.levels[it.Importance].add(it, byLevel)
	if t.levels != nil {
		t.levels[it.Importance].add(it, byTenantLevel)
	}
	r.waiting++
	r.bytes += it.Bytes
}

// Remove takes a waiting or blocked item out, wherever it stands.
func (r *Room) Remove(it *Item) {
	if it.State == Blocked {
		r.blocked.remove(it, byBlocked)
		return
	}
	t := it.Tenant
	t.queue.remove(it, byTenant)
	r.levels[it.Importance].remove(it, byLevel)
	if t.levels != nil {
		t.levels[it.Importance].remove(it, byTenantLevel)
	}
	if r.scheduler != nil && t.queue.len == 0 {
		r.scheduler.Leave(&t.flow)
	}
	r.waiting--
	r.bytes -= it.Bytes
}

// Hold keeps the producer of the item before the room.
func (r *Room) Hold(it *Item) {
	it.State = Blocked
	r.blocked.add(it, byBlocked)
}

// Admit moves the longest blocked producer into the room, if there is one and
// it fits, and returns it. Into an empty room it fits always, or one whose bound
// has fallen to zero meanwhile would be held beside free slots.
func (r *Room) Admit() *Item {
	it := r.blocked.head
	if it == nil || r.waiting > 0 && r.Full(it.Tenant, 0, it.Bytes) != reason.None {
		return nil
	}
	r.blocked.remove(it, byBlocked)
	r.Enter(it)
	return it
}

// Next returns the item whose turn it is, or nil. The item stays in the room
// until Take.
func (r *Room) Next(now unit.Instant) *Item {
	if r.scheduler == nil {
		if oldest := r.Oldest(); !r.newestFirst(oldest, now) {
			return oldest
		}
		return r.newest()
	}
	f := r.scheduler.Next()
	if f == nil {
		return nil
	}
	q := &f.Owner.(*Tenant).queue
	if r.newestFirst(q.head, now) {
		return q.tail
	}
	return q.head
}

// Take takes the item that Next returned out of the room, to run, and charges
// its tenant.
func (r *Room) Take(it *Item) {
	if r.scheduler != nil {
		r.scheduler.Serve(&it.Tenant.flow, it.Cost)
	}
	r.Remove(it)
}

// newestFirst reports whether the queue with that oldest waiter is to be
// served from its new end.
func (r *Room) newestFirst(oldest *Item, now unit.Instant) bool {
	switch r.order {
	case LIFO:
		return true
	case Adaptive:
		return oldest != nil && r.patience > 0 && now.Sub(oldest.Offered) > r.patience
	}
	return false
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

// newest returns the last waiter to have arrived, over all levels.
func (r *Room) newest() *Item {
	last := r.levels[0].tail
	for i := 1; i < len(r.levels); i++ {
		if it := r.levels[i].tail; it != nil && (last == nil || it.Seq > last.Seq) {
			last = it
		}
	}
	return last
}

// ahead returns how many waiters are sure to leave before an arrival of t:
// the optimistic count, on which nobody is refused who could have made it.
// Newest first, none. Fairly scheduled, those of the arrival's own tenant,
// since the others may leave. In one queue, all.
func (r *Room) ahead(t *Tenant, now unit.Instant) int {
	if r.scheduler != nil {
		if r.newestFirst(t.queue.head, now) {
			return 0
		}
		return t.queue.len
	}
	if r.newestFirst(r.Oldest(), now) {
		return 0
	}
	return r.waiting
}
