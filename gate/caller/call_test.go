package caller_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A proxy drives a call by what happens to its attempts; what happens late or twice
// changes nothing.
func TestACallIsDrivenByFacts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := hedged()
		p.Timeout, p.Retries, p.Budget = 100*ms, 1, unlimited
		c := open(t, p)
		var x caller.Call
		for range 2 { // once more: it is ready again when it is over
			s := x.Begin(t.Context(), c, caller.Request{Idempotent: true, Timeout: time.Second})
			began := c.Now()
			if s.Do != call.Send || s.Attempt != 1 || s.Next != began.Add(10*ms) || s.Limit != began.Add(100*ms) {
				t.Fatalf("begin: %+v", s)
			}
			if a := x.Attempt(s); a.Number != 1 || a.Hedge {
				t.Errorf("%+v", a)
			}
			x.Sent(1)
			time.Sleep(10 * ms)
			if s = x.Passed(); s.Do != call.Send || s.Attempt != 2 || !s.Hedge {
				t.Fatalf("the hedge: %+v", s)
			}
			x.Sent(2)
			if s = x.Ended(1, call.Outcome{Result: call.Broken}); s.Do != call.Nothing || s.Next != began.Add(100*ms) {
				t.Errorf("the first breaks: %+v", s)
			}
			if s = x.Ended(1, call.Outcome{}); s.Do != call.Nothing || s.Next != began.Add(100*ms) {
				t.Errorf("it ends twice: %+v", s)
			}
			time.Sleep(90 * ms)
			if s = x.Passed(); s.Do != call.Send || s.Attempt != 3 || s.Hedge || s.Cancel != (call.Set{2}) {
				t.Fatalf("the limit: %+v", s)
			}
			if s = x.Ended(2, call.Outcome{}); s.Do != call.Nothing {
				t.Errorf("what was cut off answers after all: %+v", s)
			}
			if s = x.Ended(3, call.Outcome{}); s.Do != call.Answer || s.Attempt != 3 || s.Next != unit.Never {
				t.Errorf("the answer: %+v", s)
			}
			if s = x.Left(); s.Do != call.Nothing {
				t.Errorf("it is over: %+v", s)
			}
		}
	})
}

// A failure that is reported after the limit is that limit's: whoever drives a call
// without a timer of its own is told the same.
func TestALateFailureIsATimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := open(t, call.Policy{Timeout: 100 * ms})
		var x caller.Call
		x.Begin(t.Context(), c, safe)
		time.Sleep(150 * ms)
		if s := x.Ended(1, call.Outcome{Result: call.Fault}); s.Do != call.GiveUp || s.Reason != reason.Timeout {
			t.Errorf("%+v", s)
		}
	})
}

func TestACallThatIsFixedOrLeft(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := open(t, call.Policy{Retries: 1, Budget: unlimited})
		var x caller.Call
		x.Begin(t.Context(), c, safe)
		x.Fix()
		if s := x.Ended(1, call.Outcome{Result: call.Refused}); s.Do != call.GiveUp {
			t.Errorf("its body is gone, and it is sent again: %+v", s)
		}
		x.Begin(t.Context(), c, safe)
		if s := x.Left(); s.Do != call.GiveUp || s.Reason != reason.CallerGone || s.Cancel != (call.Set{1}) {
			t.Errorf("%+v", s)
		}
	})
}
