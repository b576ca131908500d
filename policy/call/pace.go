package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// paceWindow is how far back accepted attempts are counted. A second is what rate
// limits are commonly said in; a shorter one would take a burst for a rate.
const paceWindow = time.Second

// pace is what a refusal by the dependency does to other calls' retries. First
// attempts it leaves alone: they are for breaker and throttle, and one caller's
// 429 must not close the dependency for everybody.
//
// Hold: who was told to come back later tells all. Until the latest instant that
// any refusal named, no retry and no hedge leaves; a shorter one shortens nothing.
// An answer to an attempt that left after the refusal ends it: the dependency
// answers again.
//
// Turns: calls that are refused together come back one by one, at the rate at which
// the dependency was seen to accept in the last second:
//
//	turn = max(turn, now) + 1 s / accepted
//	at   = max(max(now + After, hold) + pause, turn)
//
// so that a crowd refused at once does not meet the next second's quota as a crowd.
type pace struct {
	hold unit.Instant
	held unit.Instant // when the hold was last spoken of
	turn unit.Instant // from which the next refused call may go again

	begun         unit.Instant // of the window that passes
	count, before int64        // accepted in it, and in the one before
}

// accepted counts an attempt, sent then, that has been answered.
func (p *pace) accepted(now, sent unit.Instant) {
	p.roll(now)
	p.count++
	if sent > p.held {
		p.hold = 0
	}
}

func (p *pace) roll(now unit.Instant) {
	if d := now.Sub(p.begun); d >= paceWindow {
		p.turnOver(now, d)
	}
}

func (p *pace) turnOver(now unit.Instant, d time.Duration) {
	if d < 2*paceWindow {
		p.begun, p.before, p.count = p.begun.Add(paceWindow), p.count, 0
	} else {
		p.begun, p.before, p.count = now, 0, 0
	}
}

// refused takes in that the dependency asked to be left alone for so long.
func (p *pace) refused(now unit.Instant, after time.Duration) {
	if after > 0 {
		p.hold, p.held = max(p.hold, now.Add(after)), now
	}
}

// after returns when a retry that may not leave before at, and pauses for so long, may
// leave. The pause comes on top of the hold, for all who are held are so until the
// same instant.
func (p *pace) after(at unit.Instant, pause time.Duration) unit.Instant {
	return max(at, p.hold).Add(pause)
}

// rate returns how many attempts were accepted in the last second.
func (p *pace) rate(now unit.Instant) int64 {
	p.roll(now)
	left := min(max(paceWindow-now.Sub(p.begun), 0), paceWindow)
	return p.count + p.before*int64(left/time.Millisecond)/int64(paceWindow/time.Millisecond)
}

// take takes the next turn and returns it.
func (p *pace) take(now unit.Instant, rate int64) unit.Instant {
	turn := max(p.turn, now)
	p.turn = turn.Add(paceWindow / time.Duration(rate))
	return turn
}
