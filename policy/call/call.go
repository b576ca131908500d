package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Call is one call's way. The zero value is ready for Begin; it belongs to its
// driver, may lie on a stack or in a pool, and holds nothing that must be freed.
type Call struct {
	deadline unit.Instant // less what is kept back
	limit    unit.Instant // of the try in flight
	hedgeAt  unit.Instant // Never: no hedge
	resumeAt unit.Instant // of the retry that is paused for
	pause    time.Duration
	chance   chance.Source

	flying                   [2]flight
	made                     uint16 // attempts so far
	tries                    uint16
	state                    state
	idempotent, keyed, fixed bool
	last                     Outcome // what the latest attempt came to
}

type flight struct {
	attempt uint16 // 0: none
	sent    unit.Instant
}

type state uint8

const (
	over state = iota
	flying
	paused
)

// Attempts returns how many attempts the call has made.
func (c *Call) Attempts() int { return int(c.made) }

// Over reports whether the call has been answered or given up.
func (c *Call) Over() bool { return c.state == over }

// Dependency is what all calls to one dependency share.
type Dependency struct {
	policy Policy
	chance chance.Source
}

// New returns the state for calls under the policy, or the policy's faults.
func New(p Policy) (*Dependency, error) {
	return &Dependency{policy: p, chance: chance.New(p.Seed)}, nil
}

// Begin opens a call.
func (d *Dependency) Begin(now unit.Instant, c *Call, r Request) Step {
	*c = Call{
		deadline: sooner(r.Deadline, d.policy.Reserve), resumeAt: unit.Never, hedgeAt: unit.Never,
		chance: chance.New(r.Dice), idempotent: r.Idempotent, keyed: r.Keyed, fixed: r.Fixed,
	}
	if r.Dice == 0 {
		c.chance = chance.New(d.chance.Uint64())
	}
	if c.deadline <= now {
		return d.giveUp(c, reason.Timeout)
	}
	return d.try(now, c)
}

// sooner is t less d, and Never where there is no t.
func sooner(t unit.Instant, d time.Duration) unit.Instant {
	if t == unit.Never {
		return t
	}
	return t.Add(-d)
}

// try sends the first attempt of a try.
func (d *Dependency) try(now unit.Instant, c *Call) Step {
	c.tries++
	c.limit = c.deadline
	if t := d.policy.Timeout; t > 0 {
		c.limit = min(c.limit, now.Add(t))
	}
	c.resumeAt = unit.Never
	if a := d.policy.Hedge.After; a > 0 {
		c.hedgeAt = now.Add(a)
	}
	return d.send(c, false)
}

func (d *Dependency) send(c *Call, hedge bool) Step {
	c.made++
	c.state = flying
	i := 0
	if c.flying[0].attempt != 0 {
		i = 1
	}
	c.flying[i] = flight{attempt: c.made}
	return Step{Do: Send, Attempt: c.made, Hedge: hedge, Limit: c.limit, Next: c.next()}
}

func (c *Call) next() unit.Instant {
	if c.state == paused {
		return min(c.resumeAt, c.deadline)
	}
	return min(c.limit, c.hedgeAt)
}

// Sent reports that an attempt has left.
func (d *Dependency) Sent(now unit.Instant, c *Call, attempt uint16) {
	for i := range c.flying {
		if c.flying[i].attempt == attempt {
			c.flying[i].sent = now
		}
	}
}

// Ended reports what an attempt came to. For a streamed answer that is when it
// begins; what comes of the stream is told to nobody.
func (d *Dependency) Ended(now unit.Instant, c *Call, attempt uint16, o Outcome) Step {
	if c.state == over || !c.land(attempt) {
		return Step{Next: unit.Never}
	}
	c.last = o
	if o.Result == OK || o.Result == Neutral {
		s := Step{Do: Answer, Attempt: attempt, Next: unit.Never}
		c.cancelAll(&s)
		return s
	}
	if c.flying[0].attempt != 0 || c.flying[1].attempt != 0 {
		return Step{Next: c.next()} // the other may still answer
	}
	return d.again(now, c, attempt)
}

// land takes an attempt out of those in flight.
func (c *Call) land(attempt uint16) bool {
	for i := range c.flying {
		if c.flying[i].attempt == attempt && attempt != 0 {
			c.flying[i] = flight{}
			return true
		}
	}
	return false
}

func (c *Call) cancelAll(s *Step) {
	c.state = over
	c.cancelTry(s)
}

func (c *Call) cancelTry(s *Step) {
	for i := range c.flying {
		if n := c.flying[i].attempt; n != 0 {
			s.Cancel.add(n)
			c.flying[i] = flight{}
		}
	}
}

// again is what follows a try that has failed.
func (d *Dependency) again(now unit.Instant, c *Call, attempt uint16) Step {
	if int(c.tries) > d.policy.Retries || c.fixed || c.last.Never {
		return d.failed(c, attempt)
	}
	at := now.Add(max(d.policy.Backoff.Base, c.last.After))
	if at >= c.deadline {
		return d.failed(c, attempt)
	}
	if at == now {
		return d.try(now, c)
	}
	c.state, c.resumeAt, c.hedgeAt = paused, at, unit.Never
	return Step{Next: c.next()}
}

func (d *Dependency) failed(c *Call, attempt uint16) Step {
	s := d.giveUp(c, reason.Failed)
	s.Attempt = attempt
	return s
}

func (d *Dependency) giveUp(c *Call, why reason.Reason) Step {
	s := Step{Do: GiveUp, Reason: why, Next: unit.Never}
	c.cancelAll(&s)
	return s
}

// Passed reports that the instant Next of the latest Step has come.
func (d *Dependency) Passed(now unit.Instant, c *Call) Step {
	switch {
	case c.state == over:
		return Step{Next: unit.Never}
	case c.state == paused && c.resumeAt <= now && now < c.deadline:
		return d.try(now, c)
	case c.deadline <= now:
		return d.giveUp(c, reason.Timeout)
	case c.limit <= now:
		var s Step
		c.cancelTry(&s)
		c.last = Outcome{Result: Broken}
		after := d.again(now, c, 0)
		after.Cancel = s.Cancel
		if after.Do == GiveUp {
			after.Reason = reason.Timeout
		}
		return after
	case c.hedgeAt <= now:
		c.hedgeAt = unit.Never
		return d.send(c, true)
	}
	return Step{Next: c.next()}
}

// Left reports that whoever wanted the answer has gone.
func (d *Dependency) Left(now unit.Instant, c *Call) Step {
	if c.state == over {
		return Step{Next: unit.Never}
	}
	return d.giveUp(c, reason.CallerGone)
}
