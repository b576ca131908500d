package caller

import (
	"context"
	"errors"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Call is one call whose attempts its owner makes itself, without a goroutine that
// blocks for it: the machine of policy/call under the Caller's lock and clock. The
// owner reports what happens and does what each Step says; see policy/call for the
// facts and their order. No timer, context or goroutine is behind it: the owner
// reports Passed at Step.Next, cuts attempts off that Step.Cancel names, and keeps the
// winner's answer alive for as long as it streams.
//
// The zero Call is ready for Begin, and again once it is over. Facts may be reported
// by several goroutines at once; Steps are then to be done in any order, but each.
// Reports that come late (an attempt that was cancelled, a call that is over, the same
// end twice) change nothing.
type Call struct {
	caller *Caller
	outer  unit.Instant // the deadline that the context keeps by itself

	// What follows is guarded by the caller's mu.
	state    call.Call
	deadline unit.Instant
	limit    unit.Instant // of the latest try
	next     unit.Instant // when the machine is to be asked again
	flying   [2]uint16    // attempts that have neither ended nor been cut off; 0: none
	last     error        // what the latest failed attempt said
	key      string
	tried    uint64 // copies
	use      uint32 // how often the Call was begun
}

// Begin opens a call. The Step is Send or GiveUp.
func (x *Call) Begin(ctx context.Context, c *Caller, r Request) call.Step {
	now := c.Now()
	due, _ := c.deadline(ctx, now, r.Timeout)
	c.mu.Lock()
	defer c.mu.Unlock()
	return x.begin(now, due, c, &r)
}

func (x *Call) begin(now, deadline unit.Instant, c *Caller, r *Request) call.Step {
	x.caller, x.deadline, x.limit, x.flying = c, deadline, unit.Never, [2]uint16{}
	x.last, x.key, x.tried = nil, r.Key, 0
	x.use++
	return x.noted(c.dependency.Begin(now, &x.state, r.policy(deadline)))
}

// noted keeps of a step what later facts need.
func (x *Call) noted(s call.Step) call.Step {
	for _, n := range s.Cancel {
		x.land(n)
	}
	x.next = s.Next
	if s.Do == call.Send {
		x.limit = s.Limit
		if x.flying[0] == 0 {
			x.flying[0] = s.Attempt
		} else {
			x.flying[1] = s.Attempt
		}
	}
	return s
}

// land takes an attempt out of those in flight.
func (x *Call) land(attempt uint16) bool {
	for i, n := range x.flying {
		if n == attempt && n != 0 {
			x.flying[i] = 0
			return true
		}
	}
	return false
}

// Sent reports that an attempt leaves now.
func (x *Call) Sent(attempt uint16) {
	now := x.caller.Now()
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	x.caller.dependency.Sent(now, &x.state, attempt)
}

// Ended reports what an attempt came to; of an answer that streams, when it begins.
func (x *Call) Ended(attempt uint16, o call.Outcome) call.Step {
	now := x.caller.Now()
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	return x.ended(now, attempt, o, nil)
}

// ended reports the end to the machine. An answer in hand is an answer, also if it
// comes late and nobody has said so yet; a failure after the limit is that limit's.
func (x *Call) ended(now unit.Instant, attempt uint16, o call.Outcome, err error) call.Step {
	d := x.caller.dependency
	if !x.land(attempt) {
		d.Ended(now, &x.state, attempt, o)
		return call.Step{Next: x.next}
	}
	answered := o.Result == call.OK || o.Result == call.Neutral
	if !answered {
		x.last = err
	}
	if now >= x.limit && !answered {
		s := x.noted(d.Passed(now, &x.state))
		d.Ended(now, &x.state, attempt, o) // it has been cut off
		return s
	}
	return x.noted(d.Ended(now, &x.state, attempt, o))
}

// Passed reports that the latest Step's Next has come.
func (x *Call) Passed() call.Step {
	now := x.caller.Now()
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	return x.noted(x.caller.dependency.Passed(now, &x.state))
}

// Left reports that whoever wanted the answer has gone.
func (x *Call) Left() call.Step {
	now := x.caller.Now()
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	return x.noted(x.caller.dependency.Left(now, &x.state))
}

// Fix says that the call cannot be sent again from now on: what it sends has outgrown
// what is kept of it.
func (x *Call) Fix() {
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	x.state.Fix()
}

// Attempt returns what there is to know of the attempt that a Send is about.
func (x *Call) Attempt(s call.Step) Attempt {
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	return x.attempt(s)
}

// gone reports that the caller's context has ended. If that was its deadline the
// call has timed out, else whoever wanted its answer has left.
func (x *Call) gone(now unit.Instant, err error) call.Step {
	d := x.caller.dependency
	if x.deadline != unit.Never && errors.Is(err, context.DeadlineExceeded) {
		if s := d.Passed(max(now, x.deadline), &x.state); s.Do == call.GiveUp {
			return x.noted(s)
		}
	}
	return x.noted(d.Left(now, &x.state))
}
