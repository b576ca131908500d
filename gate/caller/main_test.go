package caller_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
)

const ms = time.Millisecond

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble runs f in virtual time: instants are exact, and time passes only when
// everybody waits. It fails if a goroutine is left behind.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func open(t testing.TB, p call.Policy, opts ...caller.Option) *caller.Caller {
	t.Helper()
	c, err := caller.New(p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sleep takes its time, or ends with its context.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unlimited is a budget that forbids nothing.
var unlimited = call.Budget{Off: true}

// safe is a request that may run twice.
var safe = caller.Request{Idempotent: true}

// failureOf returns the failure, which must be there.
func failureOf(t *testing.T, err error) *caller.Failure {
	t.Helper()
	f, ok := errors.AsType[*caller.Failure](err)
	if !ok {
		t.Fatalf("got %v, want a Failure", err)
	}
	return f
}
