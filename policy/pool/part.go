package pool

// A tenant may fill as much of the room as it is served of the pool: who gets
// every third slot may hold a third of the places. Its requests then wait no
// longer than the room was sized for, and a flood leaves the others' places
// free. The part is measured, not guessed from weights, since a tenant that
// asks for little leaves its share to the rest.
//
//	turns = slots that went to waiters, from one of the tenant's own to the
//	        next, or since the request that got it arrived if that was later
//	part  = bound / (mean of turns + half of what that is above 1)
//
// A tenant that waits alone has every turn, and the whole room. Between others
// its turns come irregularly; the half keeps not the mean of its waits but
// ninety-nine in a hundred inside the allowed wait (3 to 10 tenants at 1.5 and 5
// times the rate of 40 slots, virtual time: without it the p99 of the wait was
// 1.3 to 1.5 times the allowed wait, with it 0.95 to 1.2, once 1.4). The mean is exponentially weighted over about partWindow of the
// tenant's own turns and kept in fixed point. Under a bound of the tenant's own (TenantConfig.Queue)
// none of this applies.

const (
	// partShift: fixed point, 1/65536 of a turn. The mean stops short of a new
	// value by up to partWindow of these.
	partShift = 16
	partOne   = 1 << partShift
	// partWindow is long enough to average over a round of weights up to some
	// tens, and short enough to follow tenants that come or go: two thirds of the
	// way within as many of the tenant's own turns, 95 % within three times that.
	partWindow = 64
	// turnsMax bounds one sample: a tenant that is served one time in a
	// thousand has one place in all but the largest rooms.
	turnsMax = 1 << 20
)

// took takes in that the request that entered at turn entered got the turn now.
func (t *Tenant) took(entered, now uint64) {
	n := int64(min(now-max(t.lastTurn, entered), turnsMax)) << partShift
	if t.turns == 0 {
		t.turns = partOne
	}
	t.turns += (n - t.turns) / partWindow
	t.lastTurn = now
}

// fillsPart reports whether the tenant fills its part of a room with that
// bound. One may always wait, or a tenant would never be measured again.
func (t *Tenant) fillsPart(bound int) bool {
	waiting := int64(t.queue[0].len)
	return waiting > 0 && waiting*t.rarity() >= int64(bound)<<partShift
}

// rarity returns the turns of the formula above, in fixed point.
func (t *Tenant) rarity() int64 {
	turns := max(t.turns, partOne)
	return turns + (turns-partOne)/2
}
