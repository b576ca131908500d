package ladder

import (
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
)

// Step is what to do now.
type Step struct {
	// Rung is the one to try, 0 being the first below the primary; -1: none is
	// left, and the request is refused.
	Rung int
	// Name and Reason are what the answer is tagged with: the rung's name, or
	// Refusal, and why it is not the primary's.
	Name   string
	Reason reason.Reason
}

// Refused reports whether no rung is left.
func (s Step) Refused() bool { return s.Rung < 0 }

// Descent is one request's way down a ladder. The zero Descent has nowhere to go.
type Descent struct {
	ladder Ladder
	why    reason.Reason
	at     int
}

// Descend begins a way down, at the best rung that the time left allows.
func (l Ladder) Descend(why reason.Reason, left time.Duration) (Descent, Step) {
	return l.DescendTo(0, why, left)
}

// DescendTo is Descend for a request that is given no better rung than this one,
// as a law that sheds by rung decides. A first past the last rung is a refusal.
func (l Ladder) DescendTo(first int, why reason.Reason, left time.Duration) (Descent, Step) {
	d := Descent{ladder: l, why: why, at: max(first, 0)}
	if !Steps(why) {
		d.at = l.Len()
	}
	return d, d.look(left)
}

// Missed reports that the rung of the last step has nothing for this request, or
// failed to give it. left is what is left of the request's time.
func (d *Descent) Missed(left time.Duration) Step { return d.next(left) }

// Full reports that the rung of the last step has no room: what has a bound of its
// own is never offered more than that.
func (d *Descent) Full(left time.Duration) Step { return d.next(left) }

func (d *Descent) next(left time.Duration) Step {
	if d.at < d.ladder.Len() {
		d.at++
	}
	return d.look(left)
}

// look returns the step at the first rung from here on for which there is time. A
// rung that needs none is tried however late it is.
func (d *Descent) look(left time.Duration) Step {
	for ; d.at < d.ladder.Len(); d.at++ {
		if r := d.ladder.rungs[d.at]; r.Needs == 0 || r.Needs <= left {
			return Step{Rung: d.at, Name: r.Name, Reason: d.why}
		}
	}
	return Step{Rung: -1, Name: Refusal, Reason: d.why}
}
