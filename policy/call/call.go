package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Call is one call's way. The zero value is ready for Begin; it belongs to its
// driver, may lie on a stack or in a pool, and must not be copied or forgotten
// before it is Over: it may hold a part of a budget and a probe of the breaker.
type Call struct {
	deadline unit.Instant // less what is kept back
	limit    unit.Instant // of the try in flight
	hedgeAt  unit.Instant // Never: no hedge
	resumeAt unit.Instant // of the retry that is paused for
	pause    time.Duration
	after    time.Duration // the longest the dependency asked for in this try
	chance   chance.Source
	step     Step // the latest, which its driver reads here

	flying [2]flight
	made   uint16 // attempts so far
	tries  uint16
	state  state
	safety safety
	final  bool          // an attempt of this try forbids a retry
	failed bool          // an attempt of this try has failed
	busy   bool          // it was refused and has no turn yet; see pace
	why    reason.Reason // the latest failure
}

// flight is an attempt that is under way.
type flight struct {
	attempt uint16 // 0: none
	kind    kind
	left    bool // Sent, as far as budgets go
	lease   lease
	sent    unit.Instant // or when it was to be sent, until Sent says
}

// kind is what an attempt is, and so which budget it is out of.
type kind uint8

const (
	first kind = iota
	retried
	hedged
)

type state uint8

const (
	over state = iota
	flying
	paused
)

// Attempts returns how many attempts the call has made.
func (c *Call) Attempts() int { return int(c.made) }

// Flies reports whether the attempt has neither ended nor been cut off.
func (c *Call) Flies(attempt uint16) bool { return c.find(attempt) >= 0 }

// Limit returns when the latest try is to be answered.
func (c *Call) Limit() unit.Instant { return c.limit }

// Over reports whether the call has been answered or given up.
func (c *Call) Over() bool { return c.state == over }

// Fix says that nothing more can be sent of the call, neither a retry nor a hedge,
// for its body has outgrown what is kept of it.
func (c *Call) Fix() { c.safety.fixed = true }

// next is when time itself is the next fact.
func (c *Call) next(now unit.Instant) unit.Instant {
	switch c.state {
	case over:
		return unit.Never
	case paused:
		return max(min(c.resumeAt, c.deadline), now)
	}
	return max(min(c.limit, c.hedgeAt), now)
}

// say makes the Step that answers a fact. It is made in its place, for one that is
// handed up through frames is copied in each, which would be a third of what a call
// takes.
func (c *Call) say(do Do, attempt uint16, next unit.Instant) *Step {
	s := &c.step
	*s = Step{}
	s.Do, s.Attempt, s.Next = do, attempt, next
	return s
}

// goOn says that what is in flight, or paused, goes on.
func (c *Call) goOn(now unit.Instant) *Step { return c.say(Nothing, 0, c.next(now)) }

// alone reports whether nothing is in flight.
func (c *Call) alone() bool { return c.flying[0].attempt == 0 && c.flying[1].attempt == 0 }

// find returns where the attempt is in flight, or -1.
func (c *Call) find(attempt uint16) int {
	switch {
	case attempt == 0:
	case c.flying[0].attempt == attempt:
		return 0
	case c.flying[1].attempt == attempt:
		return 1
	}
	return -1
}

// free returns a place for one more attempt: there are never more than two.
func (c *Call) free() int {
	if c.flying[0].attempt == 0 {
		return 0
	}
	return 1
}

// Begin opens a call: Send 1, or GiveUp.
func (d *Dependency) Begin(now unit.Instant, c *Call, r Request) *Step {
	if c.state != over {
		d.giveUp(now, c, reason.CallerGone) // forgotten by its driver
	}
	*c = Call{} // and then field by field: a literal would be built elsewhere and copied
	c.deadline, c.resumeAt, c.hedgeAt = sooner(r.Deadline, d.policy.Reserve), unit.Never, unit.Never
	c.safety = safety{idempotent: r.Idempotent, keyed: r.Keyed, fixed: r.Fixed}
	if r.Dice == 0 {
		r.Dice = d.chance.Uint64()
	}
	c.chance = chance.New(r.Dice)
	d.count.Calls++
	if c.deadline <= now {
		return d.giveUp(now, c, reason.Timeout)
	}
	l, ok := d.admit(now, c)
	if !ok {
		s := d.giveUp(now, c, reason.BreakerOpen)
		if state, until := d.breaker.state(now); state == Open {
			s.After = until.Sub(now)
		}
		return s
	}
	d.try(now, c, l, first)
	return c.sending(now)
}

// sooner is t less d, and Never where there is no t.
func sooner(t unit.Instant, d time.Duration) unit.Instant {
	if t == unit.Never {
		return t
	}
	return t.Add(-d)
}

// Sent reports that an attempt has left: only then has it cost a budget anything,
// and its time begins to count. A driver that cannot tell reports it for none; then
// an attempt has left when it was to be sent, unless it ends as Unsent.
func (d *Dependency) Sent(now unit.Instant, c *Call, attempt uint16) {
	i := c.find(attempt)
	if i < 0 {
		return
	}
	d.tells = true
	c.flying[i].sent = now
	d.leave(now, &c.flying[i])
}

// Ended reports what an attempt came to. For a streamed answer that is when it
// begins; what comes of the stream is told to nobody. It is reported for an attempt
// that panicked too: as Neutral if nothing had been sent, else as Broken.
func (d *Dependency) Ended(now unit.Instant, c *Call, attempt uint16, o Outcome) *Step {
	i := c.find(attempt)
	if i < 0 {
		return c.goOn(now) // cut off before, or none of this call's
	}
	d.land(now, c, i, o)
	if o.Result == OK && !o.Always {
		return d.answer(now, c, attempt, OK)
	}
	if !c.alone() { // the other may still answer
		if o.Result != Neutral {
			c.fail(o, c.safety.reason(o, false), !c.safety.again(o))
		}
		return c.goOn(now)
	}
	return d.ended(now, c, attempt, o)
}

// ended is what follows the end of a try's last attempt, if that is not simply its
// answer.
func (d *Dependency) ended(now unit.Instant, c *Call, attempt uint16, o Outcome) *Step {
	again := c.safety.again(o)
	switch answer := o.Result == OK || o.Result == Neutral; {
	case !answer || again:
		c.fail(o, c.safety.reason(o, false), !again)
		s := d.again(now, c, attempt)
		if answer && s.Do == GiveUp { // what there is has to do
			s = c.say(Answer, attempt, unit.Never)
		}
		return s
	case o.Result == Neutral && c.failed: // the other attempt has said more
		return d.again(now, c, 0)
	}
	return d.answer(now, c, attempt, o.Result)
}

// fail notes that an attempt of the try has failed.
func (c *Call) fail(o Outcome, why reason.Reason, final bool) {
	c.failed, c.why = true, why
	c.final = c.final || final
	c.busy = c.busy || o.Result == Refused || o.Result == Busy
	c.after = max(c.after, min(o.After, longest))
}

// Passed reports that the instant Next of the latest Step has come.
func (d *Dependency) Passed(now unit.Instant, c *Call) *Step {
	switch {
	case c.state == over:
		return c.goOn(now)
	case c.deadline <= now:
		return d.expire(now, c)
	case c.state == paused:
		return d.resume(now, c)
	case c.limit <= now:
		return d.limitCame(now, c)
	case c.hedgeAt <= now:
		return d.hedge(now, c)
	}
	return c.goOn(now)
}

// Left reports that whoever wanted the answer has gone.
func (d *Dependency) Left(now unit.Instant, c *Call) *Step {
	if c.state == over {
		return c.goOn(now)
	}
	return d.giveUp(now, c, reason.CallerGone)
}
