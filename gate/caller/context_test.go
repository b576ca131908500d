package caller_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
)

type ctxKey struct{}

// contexts runs f as an attempt under an attempt's own context, of a direct call and
// of one with a hedge armed.
func contexts(t *testing.T, f func(t *testing.T, ctx context.Context, leave context.CancelCauseFunc)) {
	for name, p := range map[string]call.Policy{
		"direct": {Timeout: time.Second},
		"hedged": {Timeout: time.Second, Hedge: call.Hedge{After: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, leave := context.WithCancelCause(context.WithValue(t.Context(), ctxKey{}, "carried"))
				defer leave(nil)
				caller.Do(ctx, open(t, p), safe, func(ctx context.Context, _ caller.Attempt) (int, error) {
					f(t, ctx, leave)
					return 0, nil
				})
			})
		})
	}
}

// An attempt's context keeps the contract of context.Context, whoever looks first.
func TestAnAttemptsContextEnds(t *testing.T) {
	errLeft := errors.New("left")
	for _, k := range []struct {
		name  string
		bring func(leave context.CancelCauseFunc)
		err   error
		cause error
	}{
		{"at its limit", func(context.CancelCauseFunc) { sleep(context.Background(), 2*time.Second) }, context.DeadlineExceeded, context.DeadlineExceeded},
		{"with its caller's", func(leave context.CancelCauseFunc) { leave(errLeft); synctest.Wait() }, context.Canceled, errLeft},
	} {
		t.Run(k.name, func(t *testing.T) {
			contexts(t, func(t *testing.T, ctx context.Context, leave context.CancelCauseFunc) {
				if ctx.Err() != nil || ctx.Value(ctxKey{}) != "carried" {
					t.Errorf("before: %v, %v", ctx.Err(), ctx.Value(ctxKey{}))
				}
				done := ctx.Done()
				child, cancel := context.WithCancel(ctx)
				defer cancel()
				ran, unwanted := make(chan bool, 1), context.AfterFunc(ctx, func() { t.Error("ran, though it had been stopped") })
				stopRan := context.AfterFunc(ctx, func() { ran <- true })
				if !unwanted() || unwanted() {
					t.Error("stopping does not work, or does twice")
				}
				k.bring(leave)
				if err := ctx.Err(); err != k.err || ctx.Err() != err {
					t.Errorf("ended with %v, want %v", err, k.err)
				}
				<-done
				<-ctx.Done()
				<-child.Done()
				<-ran
				if context.Cause(ctx) != k.cause || child.Err() != k.err || stopRan() {
					t.Errorf("cause %v, child %v", context.Cause(ctx), child.Err())
				}
				context.AfterFunc(ctx, func() { ran <- true })
				<-ran
			})
		})
	}
}

// One that was not watched says all the same that it has ended, and then is.
func TestAnUnwatchedContextEnds(t *testing.T) {
	for name, bring := range map[string]func(context.CancelCauseFunc){
		"at its limit":      func(context.CancelCauseFunc) { sleep(context.Background(), 2*time.Second) },
		"with its caller's": func(leave context.CancelCauseFunc) { leave(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			contexts(t, func(t *testing.T, ctx context.Context, leave context.CancelCauseFunc) {
				bring(leave)
				if ctx.Err() == nil {
					t.Error("has not ended")
				}
				select {
				case <-ctx.Done():
				default:
					t.Error("Err says that it has ended, Done that it has not")
				}
			})
		})
	}
}

// A context made from it costs no goroutine.
func TestChildrenCostNoGoroutine(t *testing.T) {
	contexts(t, func(t *testing.T, ctx context.Context, _ context.CancelCauseFunc) {
		before := runtime.NumGoroutine()
		for range 100 {
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			child.Done()
		}
		if n := runtime.NumGoroutine(); n > before { // others of the process may end meanwhile
			t.Errorf("%d goroutines, %d before", n, before)
		}
	})
}

// It ends when Do returns, so that nothing that was begun under it runs on.
func TestAnAttemptsContextEndsWithItsCall(t *testing.T) {
	for name, p := range map[string]call.Policy{"direct": {Timeout: time.Hour}, "hedged": {Hedge: call.Hedge{After: time.Minute}}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				kept, _ := caller.Do(t.Context(), open(t, p), safe, func(ctx context.Context, _ caller.Attempt) (context.Context, error) { return ctx, nil })
				if kept.Err() != context.Canceled {
					t.Errorf("ended with %v", kept.Err())
				}
			})
		})
	}
}
