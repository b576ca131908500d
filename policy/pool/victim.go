package pool

import "github.com/spillway-dev/spillway/policy/reason"

// Victim returns the waiter that has to go so that the arrival can enter a
// room that is full for the given reason, or nil if it is the arrival that has
// to go. needed is how many bytes the arrival is over the room's limit.
func (r *Room) Victim(w WhenFull, why reason.Reason, t *Tenant, importance uint8, needed int64) *Item {
	switch w {
	case DropOldest:
		if t.queue.head != nil {
			return t.queue.head
		}
		if why == reason.TenantFull {
			return nil // all of the tenant's are blocked, none waits
		}
		return r.Oldest()
	case Displace:
		levels := r.levels
		if why == reason.TenantFull {
			levels = t.levels
		}
		return lessImportant(levels, importance, needed)
	}
	return nil
}

// lessImportant returns the newest waiter of the least important level below
// importance, if those below retain at least the bytes needed between them:
// nobody is evicted in vain.
func lessImportant(levels []list, importance uint8, needed int64) *Item {
	var victim *Item
	var bytes int64
	for i := len(levels) - 1; i > int(importance); i-- {
		if victim == nil {
			victim = levels[i].tail
		}
		bytes += levels[i].bytes
	}
	if bytes < needed {
		return nil
	}
	return victim
}
