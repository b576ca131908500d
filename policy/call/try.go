package call

import (
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// admit asks the breaker and the throttle for one more attempt. Probes are not
// throttled: they are how the breaker finds out.
func (d *Dependency) admit(now unit.Instant, c *Call) (lease, bool) {
	l, ok := d.breaker.admit(now, &c.chance)
	if !ok {
		d.count.HeldByBreaker++
		return 0, false
	}
	if !l.probe() && !d.throttle.admit(now, &c.chance) {
		d.breaker.report(now, l, neutral, 0)
		d.count.HeldByThrottle++
		return 0, false
	}
	return l, true
}

// try sends the first attempt of a try.
func (d *Dependency) try(now unit.Instant, c *Call, l lease, k kind) {
	c.tries++
	c.limit = c.deadline
	if t := d.policy.Timeout; t > 0 {
		c.limit = min(c.limit, now.Add(t))
	}
	c.resumeAt, c.hedgeAt = unit.Never, unit.Never
	c.final, c.failed, c.busy, c.after = false, false, false, 0
	if d.hedging() && c.safety.twice() {
		if a := d.hedgeAfter(); a > 0 && now.Add(a) < c.limit {
			c.hedgeAt = now.Add(a)
		}
	}
	d.send(now, c, l, k)
}

// send puts one more attempt into flight; sending is its step.
func (d *Dependency) send(now unit.Instant, c *Call, l lease, k kind) {
	c.made++
	c.state = flying
	f := &c.flying[c.free()]
	f.attempt, f.kind, f.left, f.lease, f.sent = c.made, k, false, l, now
	d.count.Attempts++
}

func (c *Call) sending(now unit.Instant) *Step {
	s := c.say(Send, c.made, c.next(now))
	s.Limit = c.limit
	return s
}

// again is what follows a try that has failed: a retry, now or after a pause, or
// the end. The attempt is the one that has just ended, 0 if none has.
func (d *Dependency) again(now unit.Instant, c *Call, attempt uint16) *Step {
	c.hedgeAt = unit.Never
	if int(c.tries) > d.policy.Retries || c.final || c.safety.fixed {
		return d.fail(now, c, attempt)
	}
	pause := d.policy.Backoff.pause(int(c.tries), c.pause, &c.chance)
	rate := int64(0)
	if c.busy {
		rate = d.pace.rate(now)
	}
	at := d.pace.after(now.Add(c.after), pause)
	if rate > 0 {
		at = max(at, d.pace.turn)
	}
	if at >= c.deadline || at < d.breaker.opens(now) {
		return d.fail(now, c, attempt)
	}
	if !d.retries.reserve(now) {
		d.count.RetriesOverBudget++
		return d.fail(now, c, attempt)
	}
	if rate > 0 {
		c.busy = false // has its turn
		d.pace.take(now, rate)
	}
	c.state, c.resumeAt, c.pause = paused, at, pause
	if at > now {
		return c.goOn(now)
	}
	s := d.resume(now, c)
	if s.Do == GiveUp {
		s.Attempt = attempt
	}
	return s
}

// resume sends the retry that was paused for, unless the dependency has asked for
// more time since, or the breaker has opened.
func (d *Dependency) resume(now unit.Instant, c *Call) *Step {
	if d.pace.hold > now {
		c.resumeAt = d.pace.after(now, c.pause)
	}
	if c.busy { // nothing had been accepted yet when it was refused
		if rate := d.pace.rate(now); rate > 0 {
			c.busy = false
			c.resumeAt = max(c.resumeAt, d.pace.take(now, rate))
		}
	}
	if c.resumeAt >= c.deadline {
		return d.giveUp(now, c, c.why)
	}
	if c.resumeAt > now {
		return c.goOn(now)
	}
	l, ok := d.admit(now, c)
	if !ok {
		return d.giveUp(now, c, c.why)
	}
	d.try(now, c, l, retried)
	return c.sending(now)
}

// limitCame cuts off a try that has taken as long as it may.
func (d *Dependency) limitCame(now unit.Instant, c *Call) *Step {
	cancel, o := d.cutAll(now, c, late)
	c.fail(o, c.safety.reason(o, true), !c.safety.again(o))
	s := d.again(now, c, 0)
	s.Cancel = cancel
	return s
}

// expire gives a call up at its deadline.
func (d *Dependency) expire(now unit.Instant, c *Call) *Step {
	if c.state == paused {
		return d.giveUp(now, c, reason.Timeout)
	}
	cancel, o := d.cutAll(now, c, expired)
	s := d.giveUp(now, c, c.safety.reason(o, true))
	s.Cancel = cancel
	return s
}

// answer ends a call that has its answer.
func (d *Dependency) answer(now unit.Instant, c *Call, attempt uint16, r Result) *Step {
	c.state = over
	if r == OK {
		d.retries.answered()
		d.hedges.answered()
		d.count.Answered++
	}
	s := c.say(Answer, attempt, unit.Never)
	if !c.alone() {
		s.Cancel, _ = d.cutAll(now, c, lost)
	}
	return s
}

// fail gives up for what the attempt that has just ended, if any has, came to.
func (d *Dependency) fail(now unit.Instant, c *Call, attempt uint16) *Step {
	s := d.giveUp(now, c, c.why)
	s.Attempt = attempt
	return s
}

// giveUp ends a call without an answer.
func (d *Dependency) giveUp(now unit.Instant, c *Call, why reason.Reason) *Step {
	if c.state == paused {
		d.retries.release()
	}
	c.state = over
	s := c.say(GiveUp, 0, unit.Never)
	s.Reason, s.After = why, c.after
	if !c.alone() {
		s.Cancel, _ = d.cutAll(now, c, gone)
	}
	return s
}
