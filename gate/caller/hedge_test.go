package caller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
)

// hedged is a policy under which a second attempt runs beside one that takes longer
// than 10 ms.
func hedged() call.Policy {
	return call.Policy{Hedge: call.Hedge{After: 10 * ms, Budget: unlimited, SlowShare: 100}}
}

// script makes attempts that take so long each, by number, and answer with it.
func script(takes ...time.Duration) func(context.Context, caller.Attempt) (int, error) {
	return func(ctx context.Context, a caller.Attempt) (int, error) {
		return a.Number, sleep(ctx, takes[a.Number-1])
	}
}

func TestTheSoonerOfTwoAnswers(t *testing.T) {
	for _, k := range []struct {
		name          string
		first, second time.Duration
		want          int
		after         time.Duration
	}{
		{"the first before the hedge is due", 5 * ms, 0, 1, 5 * ms},
		{"the hedge", time.Minute, 3 * ms, 2, 13 * ms},
		{"the first after all", 12 * ms, time.Minute, 1, 12 * ms},
	} {
		t.Run(k.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c, start := open(t, hedged()), time.Now()
				v, err := caller.Do(t.Context(), c, safe, script(k.first, k.second))
				if took := time.Since(start); v != k.want || err != nil || took != k.after {
					t.Errorf("got %d, %v after %v; want %d after %v", v, err, took, k.want, k.after)
				}
			})
		})
	}
}

// The loser learns at once that it has lost; its context says cancelled.
func TestTheLoserIsCutOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := open(t, hedged())
		lost := make(chan error, 1)
		v, err := caller.Do(t.Context(), c, safe, func(ctx context.Context, a caller.Attempt) (int, error) {
			if a.Hedge {
				err := sleep(ctx, time.Minute)
				lost <- errors.Join(err, ctx.Err())
				return 2, err
			}
			return 1, sleep(ctx, 15*ms)
		})
		if v != 1 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
		synctest.Wait()
		select {
		case err := <-lost:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the loser's context ended with %v", err)
			}
		default:
			t.Error("the loser runs on")
		}
	})
}

// failsafe-go#141, grpc-java#7222: a budget that forbids a hedge failed the call, or
// had it wait for its deadline. Here what is in flight goes on, and once nothing is,
// that is the end.
func TestNoBudgetForAHedge(t *testing.T) {
	for _, k := range []struct {
		name  string
		takes time.Duration
		err   error
	}{{"the first succeeds", 300 * ms, nil}, {"the first fails", 20 * ms, errDown}} {
		t.Run(k.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := hedged()
				p.Hedge.Budget = call.Budget{Percent: 0.001}
				c, start, n := open(t, p), time.Now(), 0
				_, err := caller.Do(t.Context(), c, caller.Request{Idempotent: true, Timeout: time.Minute}, func(ctx context.Context, _ caller.Attempt) (int, error) {
					n++
					sleep(ctx, k.takes)
					return 0, k.err
				})
				if took := time.Since(start); took != k.takes || n != 1 || !errors.Is(err, k.err) {
					t.Errorf("%v after %v, %d attempts", err, took, n)
				}
			})
		})
	}
}

// Two attempts that fail are a try that failed: after the pause comes the next, at home.
func TestBothFailAndAreTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := hedged()
		p.Retries, p.Budget, p.Backoff = 1, unlimited, call.Backoff{Base: 100 * ms, Jitter: call.NoJitter}
		c, start := open(t, p), time.Now()
		v, err := caller.Do(t.Context(), c, safe, func(ctx context.Context, a caller.Attempt) (string, error) {
			switch a.Number {
			case 1:
				sleep(ctx, 30*ms)
				return "", errDown
			case 2:
				sleep(ctx, 5*ms)
				return "", errDown
			}
			return fmt.Sprint(a.Number, " at ", time.Since(start)), nil
		})
		if v != "3 at 130ms" || err != nil {
			t.Errorf("got %q, %v", v, err)
		}
	})
}

// Both are cut off at the limit of their try, and the retry has one of its own.
func TestATryWithItsHedgeIsCutOffAtItsLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := hedged()
		p.Timeout, p.Retries, p.Budget = 25*ms, 1, unlimited
		c, start := open(t, p), time.Now()
		_, err := caller.Do(t.Context(), c, safe, script(time.Minute, time.Minute, time.Minute, time.Minute))
		f := failureOf(t, err)
		if took := time.Since(start); took != 50*ms || f.Reason != reason.Timeout || f.Attempts != 4 {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// A caller that leaves ends both.
func TestACallerLeavesTwo(t *testing.T) {
	for name, home := range map[string]time.Duration{"both in flight": time.Minute, "the first has failed": 11 * ms} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := open(t, hedged())
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(50*ms, cancel)
				start := time.Now()
				_, err := caller.Do(ctx, c, safe, func(ctx context.Context, a caller.Attempt) (int, error) {
					if a.Hedge {
						return 0, sleep(ctx, time.Hour)
					}
					if err := sleep(ctx, home); err != nil {
						return 0, err
					}
					return 0, errDown
				})
				if took := time.Since(start); took != 50*ms || !errors.Is(err, reason.CallerGone) {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}

// A hedge is not sent for what has outgrown what is kept of it.
func TestNoHedgeForAFixedCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, n := open(t, hedged()), 0
		v, err := caller.Do(t.Context(), c, safe, func(ctx context.Context, a caller.Attempt) (int, error) {
			n++
			a.Fix()
			return a.Number, sleep(ctx, time.Second)
		})
		if v != 1 || err != nil || n != 1 {
			t.Errorf("got %d, %v, %d attempts", v, err, n)
		}
	})
}

type closer chan int

func (c closer) Close() error { c <- 1; return nil }

// What a loser returns after all is closed.
func TestALosersAnswerIsClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, closed := open(t, hedged()), make(closer, 2)
		winner, err := caller.Do(t.Context(), c, safe, func(_ context.Context, a caller.Attempt) (closer, error) {
			if a.Hedge {
				time.Sleep(time.Second) // deaf to its context
				return closed, nil
			}
			time.Sleep(20 * ms)
			return make(closer), nil
		})
		if err != nil || winner == closed || len(closed) != 0 {
			t.Errorf("%v, %d closed", err, len(closed))
		}
		time.Sleep(2 * time.Second)
		if len(closed) != 1 {
			t.Errorf("%d closed, want 1", len(closed))
		}
	})
}
