package pool

import "github.com/spillway-dev/spillway/policy/reason"

// MakeWay reports whether evicting waiters lets an arrival of t into a room
// that is full for the given reason, under the room's rule for that, and how
// many of the tenant's own have to go first: as many OwnVictims. After them go
// Victims until the room is no longer Overfull. Nobody is evicted in vain: it is
// asked before the first one is.
func (p *Pool) MakeWay(t *Tenant, importance uint8, bytes int64, why reason.Reason) (own int, ok bool) {
	if !p.Fits(bytes) {
		return 0, false
	}
	if why == reason.TenantFull {
		own = 1
		if q := p.queue; q > 0 {
			own = max(own, int(t.Tally.Waiting)-q+1) // the bound may have been lowered
		}
	}
	switch p.cfg.WhenFull {
	case DropOldest:
		return own, p.bound > 0 && t.queue[0].len >= own
	case Displace:
		over := p.bytes + bytes - p.bytesMax
		ownLess, _ := less(t.lists(), importance)
		allLess, bytesLess := less(p.Room.levels, importance)
		return own, p.bound > 0 && ownLess >= own && allLess >= p.waiting-p.bound+1 && bytesLess >= over
	}
	return own, false
}

// less returns how many waiters are less important than importance, and what
// they retain.
func less(levels []list, importance uint8) (n int, bytes int64) {
	for i := int(importance) + 1; i < len(levels); i++ {
		n += levels[i].len
		bytes += levels[i].bytes
	}
	return n, bytes
}

// Overfull reports whether the room itself, whatever the tenant, has no place
// for one more that retains so many bytes.
func (r *Room) Overfull(bytes int64) bool {
	return r.full(bytes) != reason.None
}

// OwnVictim returns the waiter of t that has to go next.
func (p *Pool) OwnVictim(t *Tenant) *Item {
	if p.cfg.WhenFull == DropOldest {
		return t.queue[0].head
	}
	return leastImportant(t.lists())
}

// Victim returns the waiter that has to go next for an arrival of t.
func (p *Pool) Victim(t *Tenant) *Item {
	switch {
	case p.cfg.WhenFull != DropOldest:
		return leastImportant(p.Room.levels)
	case t.queue[0].head != nil:
		return t.queue[0].head
	}
	return p.Oldest()
}

// leastImportant returns the newest of the least important waiters.
func leastImportant(levels []list) *Item {
	for i := len(levels) - 1; i >= 0; i-- {
		if levels[i].tail != nil {
			return levels[i].tail
		}
	}
	return nil
}
