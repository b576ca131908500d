package shed

import (
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Config says when a copy of a service is not ready because it sheds. The zero
// Config is always ready.
type Config struct {
	// Share is the part of what was offered, above 0 and up to 1, that must
	// have been shed. Zero or less: never mind.
	Share float64
	// For is how long it must have been, and how long less than half of it
	// before the copy is ready again.
	For time.Duration
	// Out is how long a copy may be out at a stretch, and how long it is in
	// after it, whatever is shed.
	Out time.Duration
	// Phase tells the copies of a service apart: from 0 up to twice Out, each
	// its own, drawn where nothing else gives one.
	Phase time.Duration
}

// Ready is a copy's readiness. The zero value, with a Config, has seen nothing
// and is ready. It is not safe for concurrent use.
//
// Readiness that follows shedding is dangerous: a copy that leaves hands its load
// to the others, which then shed and leave as well, and with the last one nobody
// is served. Two rules bound that, since no copy knows of the others. It comes
// back when it sheds less than half of what made it leave, so that a balancer is
// not flapped. And it may be out only in every other turn of length Out, which
// begin at its own Phase: of many copies that all shed, about half are in at any
// moment.
type Ready struct {
	Config
	at            unit.Instant // of the latest look
	offered, shed int64        // by then
	since         unit.Instant // since when it has shed too much, or while out: little enough
	is, looked    bool         // is: since counts
	out           bool
}

// lookEvery is the least time between two looks that count: a share of what
// comes in less than that is luck.
const lookEvery = 500 * time.Millisecond

// stale is how many times For may pass between two looks before what lies
// between says nothing of now.
const stale = 10

// Look brings the readiness up to now, given how many requests were offered and
// shed since the start, and returns it. It costs no more than arithmetic; look
// as often as you like, and at least every few times within For.
func (r *Ready) Look(now unit.Instant, offered, shed int64) bool {
	if r.Share <= 0 {
		return true
	}
	gap := now.Sub(r.at)
	switch {
	case !r.looked || gap < 0 || gap > stale*r.For:
		r.is, r.out = false, r.out && r.turn(now)
	case gap < lookEvery:
		r.out = r.out && r.turn(now)
		return !r.out
	default:
		r.judge(now, r.at, offered-r.offered, shed-r.shed)
	}
	r.looked, r.at, r.offered, r.shed = true, now, offered, shed
	return !r.out
}

// judge moves the readiness by what was offered and shed from one look to the
// next.
func (r *Ready) judge(now, from unit.Instant, offered, shed int64) {
	enough := r.Share
	if r.out {
		enough /= 2
	}
	over := offered > 0 && float64(shed) >= float64(enough*float64(offered))
	if over == r.out { // as it was
		r.is = false
	} else if !r.is {
		r.is, r.since = true, from
	}
	switch {
	case r.out && !r.turn(now), r.is && now.Sub(r.since) >= r.For && (r.out || r.turn(now)):
		r.out, r.is = !r.out, false
	}
}

// turn reports whether the copy may be out at all.
func (r *Ready) turn(now unit.Instant) bool {
	return (time.Duration(now)+r.Phase)%(2*r.Out) < r.Out
}

// ForLoad reports whether an answer with that reason was shed for want of our
// capacity, before or after a wait: what readiness goes by. An operator's choice
// and a caller's own limit are not.
func ForLoad(why reason.Reason) bool {
	switch why {
	case reason.ShedForLoad, reason.QueueFull, reason.QueueBytes, reason.Infeasible,
		reason.Evicted, reason.BlockTimeout, reason.Expired:
		return true
	}
	return false
}
