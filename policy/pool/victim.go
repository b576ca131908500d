package pool

// CanMakeWay reports whether evicting waiters lets an arrival of t into a full
// room, under the room's rule for that. Nobody is evicted in vain: it is asked
// before the first Victim is.
func (p *Pool) CanMakeWay(t *Tenant, importance uint8, bytes int64) bool {
	cfg := &p.cfg
	own := 0 // of the tenant's, how many have to go before it is below its own bound
	if q := cfg.Tenants.Queue; q > 0 {
		own = int(t.Tally.Waiting) - q + 1
	}
	all := p.waiting - p.bound + 1
	over := int64(0)
	if p.bytesMax > 0 {
		over = p.bytes + bytes - p.bytesMax
	}
	switch cfg.WhenFull {
	case DropOldest:
		return p.bound > 0 && t.queue[0].len >= own
	case Displace:
		ownLess, _ := less(t.lists(), importance)
		allLess, bytesLess := less(p.Room.levels, importance)
		return ownLess >= own && allLess >= all && bytesLess >= over
	}
	return false
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

// Victim returns the waiter that has to go next so that an arrival of t gets
// in. CanMakeWay has said that there are enough.
func (p *Pool) Victim(t *Tenant) *Item {
	q := p.cfg.Tenants.Queue
	tenantFull := q > 0 && t.Tally.Waiting >= int64(q)
	if p.cfg.WhenFull == DropOldest {
		if t.queue[0].head != nil {
			return t.queue[0].head
		}
		return p.Oldest()
	}
	if tenantFull {
		return leastImportant(t.lists())
	}
	return leastImportant(p.Room.levels)
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
