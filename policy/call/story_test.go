package call

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// F1. A thousand calls fail at once and pause. A budget that counts retries when
// they leave lets all of them be scheduled; one that is a share of what is in
// flight leaves nothing for the last.
func TestF1BudgetIsReservedWhenTheRetryIsScheduled(t *testing.T) {
	const floor = 3
	w := newWorld(t, Policy{
		Retries: 1, Backoff: Backoff{Base: 100 * time.Millisecond, Jitter: NoJitter},
		Budget: Budget{Percent: 20, Floor: floor},
	}, answers(0, Fault))
	for range 1000 {
		w.call(Request{Deadline: 10 * second, Idempotent: true})
	}
	w.run(10 * second)
	retries := w.count(func(a sent) bool { return a.number > 1 })
	if retries < 200 || retries > 200+floor {
		t.Errorf("%d retries reached the dependency, want 200 to %d", retries, 200+floor)
	}
	if n := w.d.State(w.now).RetriesOverBudget; n != int64(1000-retries) {
		t.Errorf("%d were over budget, want the other %d", n, 1000-retries)
	}
}

func TestF1ALoneCallAtAQuietHourMayRetry(t *testing.T) {
	w := newWorld(t, Policy{Retries: 1, Budget: Budget{Percent: 20, Floor: 3}}, func(_ unit.Instant, a sent) (time.Duration, Outcome) {
		if a.number == 1 {
			return 0, Outcome{Result: Fault}
		}
		return 0, Outcome{}
	})
	if c := w.call(Request{Deadline: second, Idempotent: true}); !runs(w, c) {
		t.Errorf("given up: %v", c.reason)
	}
}

func runs(w *world, c *told) bool {
	w.run(w.now.Add(time.Minute))
	return c.do == Answer
}

// F1. What was reserved and never sent goes back: a call that is left while it
// pauses costs the next one nothing.
func TestF1WhatIsNotSentGoesBack(t *testing.T) {
	w := newWorld(t, Policy{
		Retries: 1, Backoff: Backoff{Base: time.Second, Jitter: NoJitter}, Budget: Budget{Floor: 1},
	}, answers(0, Fault))
	for i := range 5 {
		at := second * unit.Instant(i)
		w.at(at, func() { w.leave(w.call(Request{Deadline: unit.Never, Idempotent: true}), at.Add(500*time.Millisecond)) })
	}
	w.run(6 * second)
	if s := w.d.State(w.now); s.RetriesOverBudget != 0 || s.Retries != 0 || s.BudgetLeft != 1 {
		t.Errorf("%d over budget, %d sent, %d left; every pause had the budget for itself", s.RetriesOverBudget, s.Retries, s.BudgetLeft)
	}
}

// F2. A total timeout bounds the tries and the pauses between them.
func TestF2NothingIsSentAfterTheDeadlineAndTheAnswerComesByThen(t *testing.T) {
	for name, jitter := range map[string]Jitter{"full": Full, "equal": Equal, "decorrelated": Decorrelated, "none": NoJitter} {
		w := newWorld(t, Policy{
			Timeout: 300 * time.Millisecond, Retries: 100, Budget: Budget{Off: true},
			Backoff: Backoff{Base: 10 * time.Millisecond, Max: 500 * time.Millisecond, Jitter: jitter},
		}, answers(time.Millisecond, Refused))
		c := w.call(Request{Deadline: 2 * second})
		w.run(10 * second)
		if c.do != GiveUp || c.reason != reason.Failed || c.ended > 2*second {
			t.Errorf("%s: %v for %v at %v, want failed by 2 s", name, c.do, c.reason, c.ended)
		}
		if last := w.log[len(w.log)-1]; last.at >= 2*second || last.number < 5 {
			t.Errorf("%s: the last of %d attempts left at %v", name, last.number, last.at)
		}
	}
}

// F4. A hedge that is forbidden changes nothing for what is in flight, and nobody
// waits for it.
func TestF4AForbiddenHedgeChangesNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration
		comes Result
		want  Do
		at    unit.Instant
	}{
		{"first answers after 300 ms", 300 * time.Millisecond, OK, Answer, milli(300)},
		{"first fails at 10 ms", 10 * time.Millisecond, Fault, GiveUp, milli(10)},
		{"first fails at 60 ms, after the hedge was due", 60 * time.Millisecond, Fault, GiveUp, milli(60)},
	} {
		w := newWorld(t, Policy{Hedge: Hedge{After: 50 * time.Millisecond, Budget: Budget{Tokens: 1}}}, answers(c.takes, c.comes))
		w.d.hedges.reserve(0) // the only token is gone, and 0 % puts none in
		got := w.call(Request{Deadline: second, Idempotent: true})
		w.run(second)
		if got.do != c.want || got.ended != c.at || len(w.log) != 1 {
			t.Errorf("%s: %v at %v with %d attempts, want %v at %v with 1", c.name, got.do, got.ended, len(w.log), c.want, c.at)
		}
	}
}

// F7. All calls turn slower than the hedge's delay: hedging must not double the
// load of a dependency that is slow because of it.
func TestF7NoHedgeStormWhenLatencyShifts(t *testing.T) {
	takes := 4 * time.Millisecond
	for name, h := range map[string]Hedge{
		"fixed delay": {After: 10 * time.Millisecond},
		"95th":        {Percentile: 95},
		"no budget":   {After: 10 * time.Millisecond, Budget: Budget{Off: true}},
	} {
		w := newWorld(t, Policy{Hedge: h}, nil)
		w.serve = func(now unit.Instant, a sent) (time.Duration, Outcome) {
			d := takes + time.Duration(w.dice.Below(int64(takes)))
			if w.dice.Below(100) < 3 {
				d *= 5
			}
			if now >= 10*second {
				d *= 5
			}
			return d, Outcome{}
		}
		offer(w, 0, 20*second, 1000, Request{Idempotent: true}, time.Second)
		w.run(30 * second)
		before := w.count(func(a sent) bool { return a.hedge && a.at < 10*second })
		after := w.count(func(a sent) bool { return a.hedge && a.at >= 10*second })
		if before < 100 {
			t.Errorf("%s: %d hedges of 10,000 while all was well: the test shows nothing", name, before)
		}
		if after > 10_000/10 {
			t.Errorf("%s: %d hedges of 10,000 calls after the shift, want at most a tenth", name, after)
		}
	}
}

// offer begins calls at a steady rate.
func offer(w *world, from, to unit.Instant, perSecond int, r Request, deadline time.Duration) {
	for at := from; at < to; at = at.Add(time.Second / time.Duration(perSecond)) {
		w.at(at, func() {
			r := r
			r.Deadline = w.now.Add(deadline)
			w.call(r)
		})
	}
}

// F9. Whatever becomes of a probe, the next is let through once its lease is over,
// and a good answer closes the breaker.
func TestF9AProbeThatComesToNothingWedgesNothing(t *testing.T) {
	p := Policy{Breaker: Breaker{Consecutive: 1, OpenFor: time.Second, Probes: 1, ProbeTimeout: time.Second}}
	for name, exit := range map[string]func(d *Dependency, c *Call, now unit.Instant){
		"a later rule of ours refuses": func(d *Dependency, c *Call, now unit.Instant) { d.Ended(now, c, 1, Outcome{Result: Neutral}) },
		"caller leaves":                func(d *Dependency, c *Call, now unit.Instant) { d.Sent(now, c, 1); d.Left(now, c) },
		"panic before it is sent":      func(d *Dependency, c *Call, now unit.Instant) { d.Ended(now, c, 1, Outcome{Result: Neutral}) },
		"panic after it was sent": func(d *Dependency, c *Call, now unit.Instant) {
			d.Sent(now, c, 1)
			d.Ended(now, c, 1, Outcome{Result: Broken})
		},
		"deadline":               func(d *Dependency, c *Call, now unit.Instant) { d.Sent(now, c, 1); d.Passed(2*second, c) },
		"hangs and is forgotten": func(d *Dependency, c *Call, now unit.Instant) { d.Sent(now, c, 1) },
	} {
		d := mustNew(t, p)
		var c Call
		d.Begin(0, &c, Request{Deadline: second})
		d.Ended(0, &c, 1, Outcome{Result: Broken})
		if s := d.Begin(milli(500), &c, Request{Deadline: unit.Never}); s.Reason != reason.BreakerOpen || s.After <= 0 {
			t.Fatalf("the breaker did not open: %+v", s)
		}
		if s := d.Begin(second, &c, Request{Deadline: 2 * second}); s.Do != Send {
			t.Fatalf("%s: no probe after the open time: %+v", name, s)
		}
		exit(d, &c, second)
		now := 10 * second
		var next Call
		s := d.Begin(now, &next, Request{Deadline: unit.Never})
		if s.Do != Send {
			t.Errorf("%s: no further probe: %+v", name, s)
			continue
		}
		d.Ended(now, &next, s.Attempt, Outcome{})
		if st := d.State(now).Breaker; st == Open || st == HalfOpen {
			t.Errorf("%s: the probe was answered and the breaker is %v", name, st)
		}
	}
}

// F10. Many callers are there at the instant at which a breaker lets probes through,
// and the dependency hangs.
func TestF10NoMoreProbesThanAllowed(t *testing.T) {
	w := newWorld(t, Policy{Breaker: Breaker{Consecutive: 1, OpenFor: time.Second, Probes: 3}}, answers(0, Broken))
	w.call(Request{Deadline: second})
	w.run(second)
	w.serve = answers(-1, OK)
	before := len(w.log)
	for range 500 {
		w.call(Request{Deadline: 20 * second})
	}
	if got := len(w.log) - before; got != 3 {
		t.Errorf("%d of 500 reached the dependency, want 3", got)
	}
}

// F12. 5,000 calls/s, a minute's outage: what was refused here meanwhile does not
// keep the breaker, or the throttle, closed off after.
func TestF12ItIsOverSoonAfterTheOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("650,000 calls")
	}
	for name, p := range map[string]Policy{
		"breaker":  {Breaker: Breaker{Failures: 50}},
		"throttle": {Throttle: Throttle{K: 2}},
	} {
		w := newWorld(t, p, func(now unit.Instant, _ sent) (time.Duration, Outcome) {
			if now >= 10*second && now < 70*second {
				return time.Millisecond, Outcome{Result: Broken}
			}
			return time.Millisecond, Outcome{}
		})
		offer(w, 0, 90*second, 5000, Request{}, time.Second)
		w.run(100 * second)
		during := w.count(func(a sent) bool { return a.at >= 20*second && a.at < 70*second })
		if during > 5000*50/5 {
			t.Errorf("%s: %d of 250,000 calls reached the dead dependency", name, during)
		}
		if all, answered := w.ends(84*second, 86*second); answered*100 < all*95 {
			t.Errorf("%s: %d of %d calls answered 15 s after the outage, want 95 %%", name, answered, all)
		}
	}
}

// E7. Two or three calls a minute, and every other fails: too little to conclude
// anything from.
func TestE7NobodyIsThrottledAtTinyRates(t *testing.T) {
	w := newWorld(t, Policy{Throttle: Throttle{K: 2}, Breaker: Breaker{Failures: 50}}, func(_ unit.Instant, a sent) (time.Duration, Outcome) {
		return time.Millisecond, Outcome{Result: []Result{OK, Broken}[a.call%2]}
	})
	for i := range 180 {
		w.at(second*unit.Instant(20*i), func() { w.call(Request{Deadline: unit.Never}) })
	}
	w.run(second * 20 * 180)
	if len(w.log) != 180 {
		t.Errorf("%d of 180 calls were made", len(w.log))
	}
}

// E7. However bad it is, a part always goes through: that is how the end of it is
// found out.
func TestE7AThrottleAlwaysLeavesProbes(t *testing.T) {
	w := newWorld(t, Policy{Throttle: Throttle{K: 2}}, answers(time.Millisecond, Broken))
	offer(w, 0, 60*second, 100, Request{}, time.Second)
	w.run(60 * second)
	if got := w.count(func(a sent) bool { return a.at >= 30*second }); got < 100 || got > 600 {
		t.Errorf("%d of 3,000 calls went through, want about a tenth", got)
	}
}

// E4. Our own refusals say nothing of the dependency.
func TestE4LocalRefusalsAreInvisible(t *testing.T) {
	busy := false
	w := newWorld(t, Policy{Breaker: Breaker{Failures: 10, MinCalls: 2}, Throttle: Throttle{K: 1}}, func(_ unit.Instant, a sent) (time.Duration, Outcome) {
		if busy { // one slot, and it is taken
			return 0, Outcome{Result: Neutral}
		}
		busy = true
		return 50 * time.Millisecond, Outcome{}
	})
	for range 100 {
		w.call(Request{Deadline: second})
	}
	w.run(second)
	s := w.d.State(w.now)
	if s.Breaker != Closed || s.Throttled != 0 || s.Samples != 1 || s.Median < 45*time.Millisecond {
		t.Errorf("after 99 refusals of our own: breaker %v, %v throttled, %d latencies of %v", s.Breaker, s.Throttled, s.Samples, s.Median)
	}
	if s.Answered != 1 {
		t.Errorf("%d answered", s.Answered)
	}
}

// E8. Callers give up on a dependency that is slow, which is neither success nor
// failure; and callers in a hurry give up on one that is well.
func TestE8ACallCutOffIsSlowIfTheDependencyWas(t *testing.T) {
	for _, c := range []struct {
		name     string
		takes    time.Duration
		leaves   time.Duration // 0: its deadline comes
		deadline time.Duration
		want     BreakerState
	}{
		{"3 s, the caller's deadline is 1 s", 3 * time.Second, 0, time.Second, Open},
		{"3 s, the caller leaves after 1 s", 3 * time.Second, time.Second, time.Minute, Open},
		{"20 ms, the caller leaves after 5 ms", 20 * time.Millisecond, 5 * time.Millisecond, time.Minute, Closed},
		{"20 ms, the caller's deadline is 5 ms", 20 * time.Millisecond, 0, 5 * time.Millisecond, Closed},
	} {
		w := newWorld(t, Policy{
			Breaker:  Breaker{Slow: 50, SlowAfter: 500 * time.Millisecond, OpenFor: time.Minute, OpenMax: time.Minute},
			Throttle: Throttle{K: 2},
		}, answers(c.takes, OK))
		for i := range 100 {
			w.at(milli(20*i), func() {
				call := w.call(Request{Deadline: w.now.Add(c.deadline), Idempotent: true})
				if c.leaves > 0 {
					w.leave(call, w.now.Add(c.leaves))
				}
			})
		}
		w.run(4 * second)
		s := w.d.State(w.now)
		if s.Breaker != c.want || s.Throttled > 0 {
			t.Errorf("%s: breaker %v, want %v; %v throttled", c.name, s.Breaker, c.want, s.Throttled)
		}
	}
}

// Without a bound for slow, a caller's own deadline is held against what answered
// attempts take: some who are in a hurry do not open the breaker for all.
func TestE8AHurriedCallerDoesNotOpenTheBreaker(t *testing.T) {
	w := newWorld(t, Policy{Breaker: Breaker{Failures: 20}}, answers(20*time.Millisecond, OK))
	offer(w, 0, 20*second, 100, Request{}, time.Second)
	offer(w, 15*second, 20*second, 200, Request{}, 5*time.Millisecond)
	w.run(20 * second)
	if s := w.d.State(w.now); s.Breaker != Closed {
		t.Errorf("two callers of three give up after 5 of 20 ms, and the breaker is %v", s.Breaker)
	}
	w.serve = answers(-1, OK)
	offer(w, 20*second, 25*second, 100, Request{}, time.Second)
	w.run(26 * second)
	if s := w.d.State(w.now); s.Breaker == Closed {
		t.Error("nothing is answered within a second any more, and the breaker is closed")
	}
}

// A timeout that is as long as the deadline is the policy's own limit all the same.
func TestE8TimeoutsAreFailuresWhereTheDeadlineIsNoLonger(t *testing.T) {
	w := newWorld(t, Policy{
		Timeout: 250 * time.Millisecond,
		Breaker: Breaker{Failures: 50, Slow: 90, SlowAfter: time.Second},
	}, answers(-1, OK))
	offer(w, 0, second, 100, Request{}, 250*time.Millisecond)
	w.run(second)
	if s := w.d.State(w.now); s.Breaker == Closed {
		t.Error("every call times out, and the breaker is closed")
	}
}

// A11. 1,600 calls at once against a dependency that does 300/s and answers the rest
// with 429. Refused calls come back at the rate that it was seen to accept; as a
// crowd they would be refused again until their retries are spent.
func TestA11RefusedCallsComeBackAtTheRateThatIsAccepted(t *testing.T) {
	accepted := 0
	w := newWorld(t, Policy{
		Retries: 3, Budget: Budget{Off: true}, Backoff: Backoff{Base: 100 * time.Millisecond, Max: time.Second},
	}, nil)
	tokens, filled := 300.0, unit.Instant(0)
	w.serve = func(now unit.Instant, _ sent) (time.Duration, Outcome) {
		tokens = min(tokens+300*now.Sub(filled).Seconds(), 300)
		filled = now
		if tokens < 1 {
			return time.Millisecond, Outcome{Result: Refused}
		}
		tokens--
		accepted++
		return 3 * time.Millisecond, Outcome{}
	}
	for range 1600 {
		w.call(Request{Deadline: 30 * second})
	}
	w.run(30 * second)
	if accepted < 1500 || len(w.log) > 2*accepted {
		t.Errorf("%d of 1,600 calls succeeded with %d attempts, want nearly all with at most twice as many attempts", accepted, len(w.log))
	}
}

// D7 (quotas). Eight calls are refused at once and told to wait 1 s, nothing, 5 s,
// 60 s: the longest holds, in whatever order they come, for all retries.
func TestD7TheLongestPushbackHolds(t *testing.T) {
	for turn := range 4 {
		w := newWorld(t, Policy{Retries: 5, Budget: Budget{Off: true}}, func(now unit.Instant, a sent) (time.Duration, Outcome) {
			if a.number > 1 {
				return time.Millisecond, Outcome{}
			}
			after := []time.Duration{time.Second, 0, 5 * time.Second, time.Minute}[(a.call+turn)%4]
			return time.Duration(a.call) * time.Millisecond, Outcome{Result: Refused, After: after}
		})
		for range 8 {
			w.call(Request{Deadline: 100 * second})
		}
		w.run(100 * second)
		early := w.count(func(a sent) bool { return a.number > 1 && a.at < 60*second })
		// The very first may be told to come back at once, before anybody was told
		// of more.
		if most := 2; early > most {
			t.Errorf("%d retries before +60 s", early)
		}
		for _, c := range w.calls {
			if c.do != Answer {
				t.Errorf("a call that had 100 s ended as %v", c.reason)
			}
		}
	}
}
