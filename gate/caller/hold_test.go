package caller_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
)

// failsafe-go#65, #123, hedgedhttp#7: the winner's context ended before its body was
// read. A held answer's context lives until it is released: neither its limit, which
// has been met, nor the end of the call ends it, only its caller does.
func TestAHeldAnswerLives(t *testing.T) {
	for name, k := range map[string]struct {
		policy call.Policy
		slow   time.Duration
	}{
		"a limit":                  {call.Policy{Timeout: 100 * ms}, 0},
		"a hedge armed":            {call.Policy{Timeout: 100 * ms, Hedge: hedged().Hedge}, 0},
		"a hedge that has won":     {call.Policy{Timeout: 100 * ms, Hedge: hedged().Hedge}, 50 * ms},
		"a retry that has won":     {call.Policy{Timeout: 100 * ms, Retries: 1, Budget: unlimited}, 200 * ms},
		"the caller's own context": {call.Policy{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, leaves := range []bool{false, true} {
				bubble(t, func(t *testing.T) {
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					kept, held, err := caller.Hold(ctx, open(t, k.policy), safe, func(ctx context.Context, a caller.Attempt) (context.Context, error) {
						if a.Number == 1 {
							if err := sleep(ctx, k.slow); err != nil {
								return nil, err
							}
						}
						ctx.Done() // watched, as it is in practice
						return ctx, nil
					}, nil)
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Hour)
					if err := kept.Err(); err != nil {
						t.Errorf("ended with %v while the answer was read", err)
					}
					if at, ok := kept.Deadline(); ok {
						t.Errorf("has a deadline still: %v", at)
					}
					if leaves {
						leave()
						synctest.Wait()
					} else if held.Release(); name == "the caller's own context" {
						return // it is not ours to end
					}
					if kept.Err() != context.Canceled {
						t.Errorf("ended with %v", kept.Err())
					}
					held.Release()
					held.Release()
				})
			}
		})
	}
}

// What a call ends with is returned, also if it failed: a 503 is better than no answer.
// All else is handed back, with a context that has not ended if it failed by itself, so
// that what is left of it can be read.
func TestWhatIsNotTheAnswerIsHandedBack(t *testing.T) {
	for name, p := range map[string]call.Policy{
		"direct": {Timeout: time.Second, Retries: 1, Budget: unlimited},
		"hedged": {Timeout: time.Second, Retries: 1, Budget: unlimited, Hedge: call.Hedge{After: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var contexts []context.Context
				var back []int
				v, held, err := caller.Hold(t.Context(), open(t, p), safe, func(ctx context.Context, a caller.Attempt) (int, error) {
					contexts = append(contexts, ctx)
					return a.Number, caller.Refused(errDown, 0)
				}, func(v int, h caller.Held) {
					if err := contexts[v-1].Err(); err != nil {
						t.Errorf("attempt %d was handed back with a context that ended with %v", v, err)
					}
					back = append(back, v)
					h.Release()
				})
				if v != 2 || !errors.Is(err, errDown) || len(back) != 1 || back[0] != 1 {
					t.Errorf("got %d, %v; %v handed back", v, err, back)
				}
				if contexts[0].Err() == nil || contexts[1].Err() != nil {
					t.Errorf("contexts ended with %v and %v", contexts[0].Err(), contexts[1].Err())
				}
				held.Release()
			})
		})
	}
}
