package plan

import (
	"fmt"
	"math"
	"time"
)

// DefaultOutage is how long an upstream is taken to answer nothing where nothing else
// is said: the ten seconds of the example in Bronson et al. (HotOS 2021).
const DefaultOutage = 10 * time.Second

// RecoveryInOrder is how many seconds after an outage everything is answered in time
// again if what came in it stands in one queue, is run in the order in which it came,
// and is run although its caller has given up after timeout:
//
//	attempts x rate x (outage - timeout) / (sustainable - attempts x rate)
//
// The head of that queue is as old as the outage when it ends and grows younger by
// what is done beyond what comes; until it is younger than the timeout, no answer is
// in time, so that all is tried attempts times. +Inf: never, the tries alone are as
// much as can be done. 0: the queue is never older than the timeout.
func RecoveryInOrder(rate, attempts, sustainable float64, timeout, outage time.Duration) float64 {
	rate = float64(atLeastZero(rate) * max(1, atLeastZero(attempts)))
	late := outage.Seconds() - max(0, timeout.Seconds())
	switch {
	case math.IsNaN(sustainable):
		return math.NaN()
	case rate == 0 || late <= 0 || math.IsInf(sustainable, 1):
		return 0
	case rate >= sustainable:
		return math.Inf(1)
	}
	return float64(rate*late) / (sustainable - rate)
}

// Recovery is how many seconds after an outage a backlog of live requests is gone:
// waiting / (sustainable - rate). +Inf where more comes than can be done.
func Recovery(waiting, rate, sustainable float64) float64 {
	switch {
	case math.IsNaN(sustainable):
		return math.NaN()
	case atLeastZero(waiting) == 0 || math.IsInf(sustainable, 1):
		return 0
	case atLeastZero(rate) >= sustainable:
		return math.Inf(1)
	}
	return waiting / (sustainable - atLeastZero(rate))
}

// planRecovery works out what follows an outage at the expected rate.
func (m *maker) planRecovery(u *upstream, out *UpstreamPlan, fs *figures, sustainable, attempts float64) {
	expected := u.expected()
	none := Number(math.NaN())
	out.OutageS, out.RecoveryS, out.RecoveryInOrderS = Number(m.outage.Seconds()), none, none
	limit := u.shortestLimit()
	if out.LimitS = Number(limit.Seconds()); limit == 0 {
		out.LimitS = none
	}
	if expected == 0 || math.IsNaN(sustainable) {
		return
	}
	inOrder := RecoveryInOrder(expected, attempts, sustainable, limit, m.outage)
	where := u.queueElsewhere()
	if where == "" {
		waiting := u.waitingAfter(m.outage)
		hangs := ""
		if h := u.hangs(); h > 0 {
			hangs = "; a call that hangs holds its slot up to " + dur(h) + " more"
		}
		out.RecoveryS = fs.add("recovery_s", Recovery(waiting, expected, sustainable), "s",
			fmt.Sprintf("waiting / (sustainable - expected) = %s / (%s - %s)", num(waiting), rate(sustainable), rate(expected)),
			fmt.Sprintf("after %s without an answer; the queue is spillway's: what expired is never run, the rest is at most the bounds; "+
				"%s%s", dur(m.outage), u.orderWords(), hangs))
	} else {
		out.RecoveryS = fs.add("recovery_s", inOrder, "s", "recovery_in_order_s", "the queue is the upstream's own: "+where)
	}
	out.RecoveryInOrderS = fs.add("recovery_in_order_s", inOrder, "s",
		fmt.Sprintf("attempts x expected x (outage - limit) / (sustainable - attempts x expected), limit %s", dur(limit)),
		"the same outage where a queue runs all in the order it came, the dead too; until its head is younger than the limit all is tried again")
}

// orderWords says how new requests fare while the rest is worked off.
func (u *upstream) orderWords() string {
	for _, c := range u.classes {
		if c.Order == "fifo" {
			return "with order fifo new requests wait behind it meanwhile, adaptive would serve them at once"
		}
	}
	return "new requests are served at once meanwhile, as the order is not fifo"
}

// waitingAfter is what still stands in the classes' rooms when an outage ends: what
// came in it and has not expired, at most the bounds.
func (u *upstream) waitingAfter(outage time.Duration) float64 {
	sum := 0.0
	for _, c := range u.classes {
		bound, _ := Bound(c.boundInput())
		alive := outage
		if c.Deadline > 0 {
			alive = min(alive, c.Deadline)
		}
		sum += min(float64(bound), float64(c.Expect.Rate*alive.Seconds()))
	}
	return sum
}

// queueElsewhere says why a backlog would stand in the upstream, where its order and
// its dead work are not spillway's to decide; "" if it stands in the waiting rooms, or
// if dead work costs nothing there.
func (u *upstream) queueElsewhere() string {
	var slots int64
	stops := true
	for _, c := range u.classes {
		slots += min(c.slotsMost(), math.MaxInt64-slots)
		if u.StopsAtDeadline && c.Call.PassDeadline {
			continue
		}
		stops = false
		if c.Call.Retries > 0 || c.Call.Hedge.on() || c.Cancel {
			return "attempts that were given up run on there beside those that follow (stops_at_deadline)"
		}
	}
	if u.Slots > 0 && slots > u.Slots && !stops {
		return fmt.Sprintf("its classes let %s through, it works on %s", count(slots), count(u.Slots))
	}
	return ""
}

func (c *class) slotsMost() int64 {
	if c.Slots.adaptive() {
		return c.slots
	}
	return max(0, c.Slots.Max)
}

// hangs is how long a call that never ends keeps a slot from its caller's answer on.
func (u *upstream) hangs() time.Duration {
	var longest time.Duration
	for _, c := range u.classes {
		if u.StopsAtDeadline && c.Call.PassDeadline {
			longest = max(longest, c.limit())
		} else {
			longest = max(longest, c.HoldAtMost)
		}
	}
	return longest
}

func (u *upstream) shortestLimit() time.Duration {
	var least time.Duration
	for _, c := range u.classes {
		if t := c.limit(); t > 0 && (least == 0 || t < least) {
			least = t
		}
	}
	return least
}
