package pool

import "time"

// What an explanation wants to know of a room, in the terms of the predicates that
// refuse; see Full and part.go.

// MostOf returns how many of t may wait at once, or 0 if only the room bounds it.
func (r *Room) MostOf(t *Tenant) int {
	switch {
	case r.queue > 0:
		return r.queue
	case r.parted:
		turns := t.rarity()
		return int(max((int64(r.bound)<<partShift+turns-1)/turns, 1))
	}
	return 0
}

// BoundForPart returns the least bound of a room in which t, with what it has
// waiting, would not fill its part.
func (r *Room) BoundForPart(t *Tenant) int {
	return int(int64(t.queue[0].len)*t.rarity()>>partShift) + 1
}

// WeightForPart returns the weight with which t would come to have a place more
// than it has waiting, were the others' weights what they are and all of them
// busy; 0 if no weight would do. It is an estimate: a part follows what has been
// served, and takes a while to follow.
func (p *Pool) WeightForPart(t *Tenant) int64 {
	if p.scheduler == nil || p.bound <= 0 {
		return 0
	}
	need, bound := int64(t.queue[0].len)+1, int64(p.bound)
	others := p.scheduler.Weight() - t.flow.Weight
	if need >= bound || others <= 0 {
		return 0
	}
	return max((need*others+bound-need-1)/(bound-need), t.flow.Weight+1)
}

// Predicted returns how long the item was to wait when it entered.
func (it *Item) Predicted() time.Duration { return it.predicted }
