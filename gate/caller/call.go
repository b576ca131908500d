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
	step     *call.Step // the latest
	deadline unit.Instant
	last     error // what the latest failed attempt said
	key      string
	tried    uint64 // copies
	use      uint32 // how often the Call was begun
	spare    *Call  // the next one, while nobody uses this
}

// Begin opens a call. The Step is Send or GiveUp.
func (x *Call) Begin(ctx context.Context, c *Caller, r Request) call.Step {
	now := c.Now()
	due, _ := c.deadline(ctx, now, r.Timeout)
	c.mu.Lock()
	defer c.mu.Unlock()
	x.begin(now, due, c, &r)
	return *x.step
}

func (x *Call) begin(now, deadline unit.Instant, c *Caller, r *Request) {
	x.caller, x.deadline = c, deadline
	x.last, x.key, x.tried = nil, r.Key, 0
	x.use++
	x.step = c.dependency.Begin(now, &x.state, r.policy(deadline))
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
	x.ended(now, attempt, o, nil)
	return *x.step
}

// ended reports the end to the machine. An answer in hand is an answer, also if it
// comes late and nobody has said so yet; a failure after the limit is that limit's.
func (x *Call) ended(now unit.Instant, attempt uint16, o call.Outcome, err error) {
	if o.Result != call.OK && o.Result != call.Neutral && x.state.Flies(attempt) {
		x.last = err
		if now >= x.state.Limit() {
			x.passed(now) // and cut off, which is all that there is to say of it
			return
		}
	}
	x.step = x.caller.dependency.Ended(now, &x.state, attempt, o)
}

// Passed reports that the latest Step's Next has come.
func (x *Call) Passed() call.Step {
	now := x.caller.Now()
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	x.passed(now)
	return *x.step
}

func (x *Call) passed(now unit.Instant) {
	x.step = x.caller.dependency.Passed(now, &x.state)
}

// Left reports that whoever wanted the answer has gone.
func (x *Call) Left() call.Step {
	now := x.caller.Now()
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	x.left(now)
	return *x.step
}

func (x *Call) left(now unit.Instant) {
	x.step = x.caller.dependency.Left(now, &x.state)
}

// gone reports that the caller's context has ended. If that was its deadline the
// call has timed out, else whoever wanted its answer has left.
func (x *Call) gone(now unit.Instant, err error) {
	if x.deadline != unit.Never && errors.Is(err, context.DeadlineExceeded) {
		x.passed(max(now, x.deadline))
		if x.step.Do == call.GiveUp {
			return
		}
	}
	x.left(now)
}

// Fix says that the call cannot be sent again from now on: what it sends has outgrown
// what is kept of it.
func (x *Call) Fix() {
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	x.state.Fix()
}

// Attempt returns what there is to know of the attempt that a Send is about.
func (x *Call) Attempt(s call.Step) (a Attempt) {
	x.caller.mu.Lock()
	defer x.caller.mu.Unlock()
	a.of(x, s.Attempt, s.Hedge, s.Limit)
	return a
}
