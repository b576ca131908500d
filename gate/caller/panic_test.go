package caller_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
)

var errBoom = errors.New("boom")

// recovered returns what f panics with.
func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// failsafe-go v0.9.8: a panic leaks the permit, and one in a probe wedges the breaker
// half open for ever. Here every way out gives back what the attempt held.
func TestAPanicInAProbeWedgesNothing(t *testing.T) {
	for _, k := range []struct {
		name   string
		policy call.Policy
		leave  func()
	}{
		{"panic", call.Policy{}, func() { panic(errBoom) }},
		{"panic, with a limit", call.Policy{Timeout: time.Second}, func() { panic(errBoom) }},
		{"panic, with a hedge armed", hedged(), func() { panic(errBoom) }},
		{"exit", call.Policy{}, runtime.Goexit},
		{"exit, with a hedge armed", hedged(), runtime.Goexit},
	} {
		t.Run(k.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := k.policy
				p.Breaker = call.Breaker{Consecutive: 1, OpenFor: time.Second, Probes: 1, ProbeTimeout: time.Hour}
				c := open(t, p)
				caller.Do(t.Context(), c, safe, func(context.Context, caller.Attempt) (int, error) { return 0, caller.Broken(errDown) })
				time.Sleep(2 * time.Second)
				ended := make(chan any, 1)
				go func() {
					defer func() { ended <- recover() }()
					caller.Do(t.Context(), c, safe, func(context.Context, caller.Attempt) (int, error) { k.leave(); return 0, nil })
				}()
				if p := <-ended; p != nil && p != errBoom {
					t.Errorf("panicked with %v, want %v itself", p, errBoom)
				}
				v, err := caller.Do(t.Context(), c, safe, func(context.Context, caller.Attempt) (int, error) { return 7, nil })
				if v != 7 || err != nil {
					t.Errorf("the next probe: %d, %v", v, err)
				}
			})
		})
	}
}

// A panic of a hedge is raised where the call was made, with the stack on which it was.
func TestAPanicOfAHedge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := open(t, hedged())
		start := time.Now()
		p := recovered(func() {
			caller.Do(t.Context(), c, safe, func(ctx context.Context, a caller.Attempt) (int, error) {
				if a.Hedge {
					panic(errBoom)
				}
				return 0, sleep(ctx, time.Minute)
			})
		})
		raised, ok := p.(*caller.Panic)
		if !ok || raised.Value != errBoom || !errors.Is(raised, errBoom) || !strings.Contains(raised.Error(), "panic_test.go") {
			t.Errorf("panicked with %v", p)
		}
		if took := time.Since(start); took != 10*ms {
			t.Errorf("after %v", took)
		}
	})
}

// A panic that nobody is left to see is told, and ends neither the process nor the call.
func TestAPanicAfterTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		told := make(chan any, 1)
		c := open(t, hedged(), caller.OnPanic(func(value any, stack []byte) {
			if !strings.Contains(string(stack), "panic_test.go") {
				t.Errorf("stack %s", stack)
			}
			told <- value
		}))
		v, err := caller.Do(t.Context(), c, safe, func(ctx context.Context, a caller.Attempt) (int, error) {
			if a.Hedge {
				sleep(ctx, time.Hour)
				panic(errBoom)
			}
			return 1, sleep(ctx, 15*ms)
		})
		if v != 1 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
		synctest.Wait()
		select {
		case value := <-told:
			if value != errBoom {
				t.Errorf("told of %v", value)
			}
		default:
			t.Error("nobody was told")
		}
	})
}

// A hedge that ends its goroutine has failed; the first goes on.
func TestAHedgeThatExits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := open(t, hedged())
		v, err := caller.Do(t.Context(), c, safe, func(ctx context.Context, a caller.Attempt) (int, error) {
			if a.Hedge {
				runtime.Goexit()
			}
			return 1, sleep(ctx, 50*ms)
		})
		if v != 1 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
	})
}

// A hedge has answered, and the attempt at home panics before it notices: the panic is
// seen, and the answer that nobody takes is closed.
func TestAPanicAtHomeAfterAHedgeHasAnswered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, closed := open(t, hedged()), make(closer, 2)
		p := recovered(func() {
			caller.Do(t.Context(), c, safe, func(_ context.Context, a caller.Attempt) (closer, error) {
				if a.Hedge {
					return closed, nil
				}
				time.Sleep(time.Second) // deaf to its context
				panic(errBoom)
			})
		})
		if p != errBoom || len(closed) != 1 {
			t.Errorf("panicked with %v, %d closed", p, len(closed))
		}
	})
}
