package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// throttleSteps is in how many steps the window of a throttle slides, and
// throttleLeast how many it looks at in any case.
const (
	throttleSteps = 16
	throttleLeast = 4
	// throttleRelease is K when nothing fails any more. With 1.1 what is sent would
	// else grow by a tenth in a quarter of the window, and with a failure in a
	// hundred, which is an ordinary day, by less.
	throttleRelease = 4 * whole
)

// throttle refuses a share of attempts that the dependency would refuse, which
// costs it less (Google, Site Reliability Engineering, 2016, ch. 21):
//
//	P = max(0, (requests - K accepts) / (requests + 1)), at most ThrottleMost
//
// Requests are counted when they are made, those refused here included, so that
// what is sent is K times what is accepted however large the demand is. Those
// in flight are taken to be accepted in the same share as those that have ended: a
// burst after a quiet time is no sign of trouble.
//
// It looks back a quarter of the window, and further only to see ThrottleCalls end,
// if any of them failed: how long it takes to admit all again then depends on the
// window, and not on how much was refused. For the same reason K grows, up to 4, the
// less fails of what is sent; where 1/K of it is accepted, K is K.
//
// Not safe for concurrent use. A call of a method takes nanoseconds and allocates
// nothing.
type throttle struct {
	k     int64 // in millionths; 0: off
	width time.Duration

	end    unit.Instant // of the newest step
	at     int          // its place
	failed int64        // in the window
	steps  [throttleSteps]throttleStep
}

type throttleStep struct{ sent, refused, good, bad int64 }

func newThrottle(c Throttle) throttle {
	var t throttle
	t.set(c)
	return t
}

// set changes the rule and keeps what was counted.
func (t *throttle) set(c Throttle) {
	c = c.withDefaults()
	t.k, t.width = int64(float64(min(max(c.K, 0), KMax)*whole)), max(c.Window/throttleSteps, 1)
}

// admit asks for one more attempt and counts it. Each that is admitted is to be
// reported, once.
func (t *throttle) admit(now unit.Instant, c *chance.Source) bool {
	return t.k == 0 || t.draw(now, c)
}

func (t *throttle) draw(now unit.Instant, c *chance.Source) bool {
	t.slide(now)
	s := &t.steps[t.at]
	if t.failed > 0 {
		if p := t.refusing(); p > 0 && c.Below(whole) < p {
			s.refused++
			return false
		}
	}
	s.sent++
	return true
}

// report says what an admitted attempt came to. One that says nothing of the
// dependency is taken for what the others are.
func (t *throttle) report(now unit.Instant, v verdict) {
	if t.k != 0 {
		t.add(now, v)
	}
}

func (t *throttle) add(now unit.Instant, v verdict) {
	t.slide(now)
	s := &t.steps[t.at]
	switch v {
	case good:
		s.good++
	case bad:
		s.bad++
		t.failed++
	}
}

// refusing returns P, in millionths.
func (t *throttle) refusing() int64 {
	var n throttleStep
	for i := range throttleSteps {
		if i >= throttleLeast && (n.good+n.bad >= ThrottleCalls || n.bad == 0 && n.good > 0) {
			break
		}
		s := &t.steps[(t.at-i+throttleSteps)%throttleSteps]
		n.sent += s.sent
		n.refused += s.refused
		n.good += s.good
		n.bad += s.bad
	}
	ended := n.good + n.bad
	if ended == 0 || ended < ThrottleCalls && n.bad > 0 {
		return 0
	}
	accepts := n.sent * n.good / ended
	requests := n.sent + n.refused
	return min(max(requests*whole-accepts*t.released(n.bad*whole/ended), 0)/(requests+1), ThrottleMost*(whole/100))
}

// released returns K for what is sent while that share fails: larger the less does.
func (t *throttle) released(bad int64) int64 {
	borne := whole - whole*whole/t.k // the share that fails where what is sent stays what it is
	if bad >= borne && bad > 0 || t.k >= throttleRelease {
		return t.k
	}
	return throttleRelease - (throttleRelease-t.k)*bad/max(borne, 1)
}

// share returns the share of attempts that is refused now, 0 .. 1.
func (t *throttle) share(now unit.Instant) float64 {
	if t.k == 0 {
		return 0
	}
	t.slide(now)
	return float64(t.refusing()) / whole
}

// slide forgets the steps that have left the window. A clock that steps back
// moves nothing.
func (t *throttle) slide(now unit.Instant) {
	if now >= t.end {
		t.forget(now)
	}
}

func (t *throttle) forget(now unit.Instant) {
	if now.Sub(t.end) >= t.width*throttleSteps {
		t.steps, t.failed, t.end = [throttleSteps]throttleStep{}, 0, now.Add(t.width)
		return
	}
	for t.end <= now {
		t.end = t.end.Add(t.width)
		t.at = (t.at + 1) % throttleSteps
		t.failed -= t.steps[t.at].bad
		t.steps[t.at] = throttleStep{}
	}
}
