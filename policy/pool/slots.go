package pool

// Slots counts how many requests of a class hold a slot. The class's own
// slots are guaranteed; up to borrow more may be taken of what the resource
// has idle. Taking and giving cost a few nanoseconds.
type Slots struct {
	own    int
	borrow int
	used   int
}

// NewSlots returns own slots, with up to borrow more when the resource has
// idle ones. Negative figures count as zero.
func NewSlots(own, borrow int) Slots {
	return Slots{own: max(own, 0), borrow: max(borrow, 0)}
}

// Own returns the number of guaranteed slots.
func (s *Slots) Own() int { return s.own }

// Used returns the number of slots held. It exceeds the limit after the limit
// was lowered, until enough work has ended.
func (s *Slots) Used() int { return s.used }

// Most returns how many slots the class can hold at best.
func (s *Slots) Most() int { return s.own + s.borrow }

// TryTake takes one of the class's own slots if one is free.
func (s *Slots) TryTake() bool {
	if s.used >= s.own {
		return false
	}
	s.used++
	return true
}

// TryBorrow takes a slot beyond the class's own. The caller has made sure
// that the resource has an idle one.
func (s *Slots) TryBorrow() bool {
	if s.used >= s.own+s.borrow {
		return false
	}
	s.used++
	return true
}

// Give returns one slot.
func (s *Slots) Give() {
	if s.used == 0 {
		panic("BUG: pool: a slot was given back that nobody held")
	}
	s.used--
}

// Resize changes the figures. A lowered figure takes no slot away from work
// that runs.
func (s *Slots) Resize(own, borrow int) {
	s.own, s.borrow = max(own, 0), max(borrow, 0)
}
