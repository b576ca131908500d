package caller_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

var errDown = errors.New("down")

func TestTheFirstAnswerIsTheCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := open(t, call.Policy{Retries: 3})
		v, err := caller.Do(t.Context(), c, caller.Request{}, func(_ context.Context, a caller.Attempt) (int, error) {
			return a.Number, nil
		})
		if v != 1 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
	})
}

// linkerd2#2369: a total of 5 s, and one request was retried for five hours. What
// bounds a call bounds all of it, pauses included.
func TestRetriesNeverExceedTheDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := open(t, call.Policy{Retries: 100, Budget: unlimited, Backoff: call.Backoff{Base: 10 * ms, Max: 500 * ms}})
		start, attempts := time.Now(), 0
		_, err := caller.Do(t.Context(), c, caller.Request{Timeout: 2 * time.Second}, func(ctx context.Context, _ caller.Attempt) (int, error) {
			attempts++
			sleep(ctx, 20*ms)
			return 0, caller.Refused(errDown, 0)
		})
		took, f := time.Since(start), failureOf(t, err)
		if took > 2*time.Second || took < time.Second || f.Attempts != attempts || attempts < 3 || !errors.Is(err, errDown) {
			t.Errorf("%v after %v, %d attempts", err, took, attempts)
		}
	})
}

// Each try is cut off at its limit, which travels with it and is its context's.
func TestATryIsCutOffAtItsLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := open(t, call.Policy{Timeout: 25 * ms, Retries: 1, Budget: unlimited})
		start := time.Now()
		_, err := caller.Do(t.Context(), c, safe, func(ctx context.Context, a caller.Attempt) (int, error) {
			at, ok := ctx.Deadline()
			limit, has := a.Limit()
			left, _ := a.Left()
			if want := start.Add(time.Duration(a.Number) * 25 * ms); !ok || !has || !at.Equal(want) || !limit.Equal(want) || left != 25*ms {
				t.Errorf("attempt %d: deadline %v, limit %v, %v left", a.Number, at.Sub(start), limit.Sub(start), left)
			}
			return 0, sleep(ctx, time.Second)
		})
		f := failureOf(t, err)
		if took := time.Since(start); took != 50*ms || f.Reason != reason.Timeout || f.Attempts != 2 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v after %v", err, took)
		}
		if want := "spillway: timeout after 2 attempts: context deadline exceeded"; err.Error() != want {
			t.Errorf("says %q, want %q", err, want)
		}
	})
}

// A function that does not look at its context is waited for, and never runs twice at
// once; what it has in hand then is the answer.
func TestAnAnswerInHandIsAnAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := open(t, call.Policy{Timeout: 25 * ms, Retries: 1, Budget: unlimited})
		start := time.Now()
		v, err := caller.Do(t.Context(), c, safe, func(_ context.Context, a caller.Attempt) (int, error) {
			time.Sleep(100 * ms)
			return a.Number, nil
		})
		if took := time.Since(start); v != 1 || err != nil || took != 100*ms {
			t.Errorf("got %d, %v after %v", v, err, took)
		}
	})
}

// What may be done again is up to what is known of the attempt and of the call.
func TestWhatIsTriedAgain(t *testing.T) {
	idempotent, keyed, neither := caller.Request{Idempotent: true}, caller.Request{Keyed: true}, caller.Request{}
	for _, k := range []struct {
		name string
		ask  caller.Request
		err  error
		want int
	}{
		{"surely not sent", neither, caller.Unsent(errDown), 2},
		{"refused", neither, caller.Refused(errDown, 0), 2},
		{"refused, not to be asked again", neither, caller.Never(caller.Refused(errDown, 0)), 1},
		{"may have run", neither, io.ErrUnexpectedEOF, 1},
		{"may have run, idempotent", idempotent, io.ErrUnexpectedEOF, 2},
		{"may have run, keyed", keyed, io.ErrUnexpectedEOF, 2},
		{"tried and failed", neither, errDown, 1},
		{"tried and failed, idempotent", idempotent, errDown, 2},
		{"refused, its body gone", caller.Request{Fixed: true, Idempotent: true}, caller.Refused(errDown, 0), 1},
		{"the error is the answer", idempotent, caller.Neutral(errDown), 1},
	} {
		t.Run(k.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c, n := open(t, call.Policy{Retries: 1, Budget: unlimited}), 0
				_, err := caller.Do(t.Context(), c, k.ask, func(context.Context, caller.Attempt) (int, error) { n++; return 0, k.err })
				if n != k.want || !errors.Is(err, k.err) {
					t.Errorf("%d attempts, want %d; %v", n, k.want, err)
				}
				_, failed := errors.AsType[*caller.Failure](err)
				if neutral := caller.DefaultOutcome(k.err).Result == call.Neutral; failed == neutral {
					t.Errorf("an answer is returned as it is, all else as a Failure: %T", err)
				}
			})
		})
	}
}

// A body that outgrows what is kept of it while it is sent cannot be sent again.
func TestAFixedCallIsNotSentAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, n := open(t, call.Policy{Retries: 3, Budget: unlimited}), 0
		_, err := caller.Do(t.Context(), c, safe, func(_ context.Context, a caller.Attempt) (int, error) {
			n++
			a.Fix()
			return 0, errDown
		})
		if n != 1 || !errors.Is(err, reason.Failed) {
			t.Errorf("%d attempts, %v", n, err)
		}
	})
}

// All attempts go under one key, and know which copies have been tried.
func TestAttemptsKnowOfEachOther(t *testing.T) {
	for _, given := range []string{"", "order-7"} {
		bubble(t, func(t *testing.T) {
			c := open(t, call.Policy{Retries: 2, Budget: unlimited})
			keys := map[string]bool{}
			var stale caller.Attempt
			caller.Do(t.Context(), c, caller.Request{Keyed: true, Key: given}, func(_ context.Context, a caller.Attempt) (int, error) {
				keys[a.Key()] = true
				for copy := range 5 {
					if got, want := a.Tried(copy), copy < a.Number-1; got != want {
						t.Errorf("attempt %d: copy %d tried: %t", a.Number, copy, got)
					}
				}
				a.Use(a.Number - 1)
				a.Use(-1)
				a.Use(64)
				stale = a
				return 0, errDown
			})
			for key := range keys {
				if len(keys) != 1 || given != "" && key != given || given == "" && len(key) < 20 {
					t.Errorf("keys %v", keys)
				}
			}
			// What is left of an attempt changes nothing for calls that come after.
			caller.Do(t.Context(), c, safe, func(_ context.Context, a caller.Attempt) (int, error) {
				stale.Use(9)
				stale.Fix()
				if a.Tried(9) || a.Tried(0) || stale.Tried(0) || stale.Key() != "" {
					t.Error("calls know of each other")
				}
				return 0, nil
			})
		})
	}
}

// A caller that leaves ends its call at once, in an attempt and in a pause, and the
// dependency is not to blame.
func TestACallerThatLeaves(t *testing.T) {
	for _, k := range []struct {
		name  string
		takes time.Duration
	}{{"in an attempt", time.Minute}, {"in a pause", ms}} {
		t.Run(k.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := open(t, call.Policy{
					Retries: 1, Budget: unlimited, Backoff: call.Backoff{Base: time.Hour, Jitter: call.NoJitter},
					Breaker: call.Breaker{Consecutive: 1},
				})
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(10*ms, cancel)
				start := time.Now()
				_, err := caller.Do(ctx, c, safe, func(ctx context.Context, _ caller.Attempt) (int, error) {
					if err := sleep(ctx, k.takes); err != nil {
						return 0, err
					}
					return 0, caller.Unsent(errDown)
				})
				if took := time.Since(start); took != 10*ms || !errors.Is(err, reason.CallerGone) || !errors.Is(err, context.Canceled) {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}

// A deadline that passes is a timeout, whoever named it.
func TestADeadlineThatPasses(t *testing.T) {
	for name, k := range map[string]struct{ ctx, ask time.Duration }{
		"the context's": {ctx: 10 * ms}, "the request's": {ask: 10 * ms}, "both": {ctx: 10 * ms, ask: time.Hour}, "passed before": {ctx: -ms},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := open(t, call.Policy{Retries: 1, Budget: unlimited})
				ctx := t.Context()
				if k.ctx != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, k.ctx)
					defer cancel()
				}
				start := time.Now()
				_, err := caller.Do(ctx, c, caller.Request{Timeout: k.ask, Idempotent: true}, func(ctx context.Context, _ caller.Attempt) (int, error) {
					return 0, sleep(ctx, time.Minute)
				})
				if took := time.Since(start); took != max(k.ctx, k.ask%time.Hour, 0) || !errors.Is(err, reason.Timeout) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}

// An open breaker asks nothing of the dependency, and says when it will.
func TestAnOpenBreaker(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := open(t, call.Policy{Breaker: call.Breaker{Consecutive: 2, OpenFor: time.Second}})
		n := 0
		fail := func(context.Context, caller.Attempt) (int, error) { n++; return 0, io.EOF }
		for range 2 {
			caller.Do(t.Context(), c, safe, fail)
		}
		_, err := caller.Do(t.Context(), c, safe, fail)
		f := failureOf(t, err)
		if why, ok := errors.AsType[reason.Reason](err); !ok || why != reason.BreakerOpen {
			t.Errorf("the reason in it is %v, %v", why, ok)
		}
		if n != 2 || f.Reason != reason.BreakerOpen || f.Attempts != 0 || f.RetryAfter <= 0 || !errors.Is(err, caller.ErrFailed) {
			t.Errorf("%d attempts, %+v", n, f)
		}
		if want := "spillway: breaker_open, not sent"; err.Error() != want {
			t.Errorf("says %q, want %q", err, want)
		}
		// Another Caller around this one does not take it for its dependency's failure.
		if got := caller.DefaultOutcome(err).Result; got != call.Neutral {
			t.Errorf("a refusal of our own counts as %v", got)
		}
	})
}

func TestFaultsOfAPolicy(t *testing.T) {
	if _, err := caller.New(call.Policy{Retries: -1}); err == nil {
		t.Error("a policy with -1 retries was taken")
	}
}

// A policy is exchanged while calls are made: what was learned stays, faults change nothing.
func TestReconfigure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, n := open(t, call.Policy{}), 0
		broken := func(context.Context, caller.Attempt) (int, error) { n++; return 0, io.EOF }
		caller.Do(t.Context(), c, safe, broken)
		if c.Repeats() || c.Reconfigure(call.Policy{Retries: -1}) == nil || c.Repeats() {
			t.Error("a policy with -1 retries was taken")
		}
		if err := c.Reconfigure(call.Policy{Retries: 2, Budget: unlimited}); err != nil || !c.Repeats() {
			t.Errorf("%v, repeats %t", err, c.Repeats())
		}
		caller.Do(t.Context(), c, safe, broken)
		if s := c.State(); n != 4 || s.Calls != 2 {
			t.Errorf("%d attempts, %+v", n, s.Count)
		}
		c.With(func(_ unit.Instant, d *call.Dependency) {
			if d.Policy().Retries != 2 {
				t.Errorf("%+v", d.Policy())
			}
		})
		if err := c.Reconfigure(hedged()); err != nil {
			t.Error(err)
		}
		if v, err := caller.Do(t.Context(), c, safe, script(time.Minute, 0)); v != 2 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
	})
}
