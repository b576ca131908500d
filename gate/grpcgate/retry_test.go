package grpcgate_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
)

const dropRule = pool.Drop

func statusOf(err error) *status.Status { return status.Convert(err) }

// retries has a client try four times, after a backoff so long that only a
// pushback can have it come back within a test.
const retries = `{"methodConfig": [{"name": [{}], "retryPolicy": {
	"maxAttempts": 4, "initialBackoff": "3600s", "maxBackoff": "3600s", "backoffMultiplier": 1,
	"retryableStatusCodes": ["UNAVAILABLE"]}}]}`

// grpc-go's own retry policy obeys what a refusal says: it comes back when it was
// told, not when it had meant to, and is served when there is a slot by then.
func TestRetriesComeBackWhenTold(t *testing.T) {
	class := full()
	class.RetryAfterMax = 20 * time.Millisecond
	g := open(t, class)
	release := hold(t, g, 1)
	s := &service{say: echo}
	conn := setup{gate: g, retries: retries}.start(t, s)
	served := make(chan answer)
	go func() { served <- say(context.Background(), conn, "hi") }()
	eventually(t, "an attempt to be refused", func() bool { return s.calls.Load() >= 1 })
	eventually(t, "another attempt", func() bool { return s.calls.Load() >= 2 })
	release()
	a := <-served
	if n := s.calls.Load(); n < 2 || n > 4 {
		t.Errorf("%d attempts, want 2 to 4", n)
	}
	if a.err != nil && s.calls.Load() < 4 {
		t.Errorf("gave up after %d attempts: %v", s.calls.Load(), a.err)
	}
}

// What is thrown away is not sent again.
func TestRetriesStayAwayWhenTold(t *testing.T) {
	g := open(t, gate.Class{Pool: gate.Pool{Slots: 1, Latency: time.Millisecond, Service: time.Millisecond, WhenFull: dropRule}})
	defer hold(t, g, 1)()
	s := &service{say: echo}
	conn := setup{gate: g, retries: retries}.start(t, s)
	say(minute(t), conn, "hi").want(t, codes.Unavailable, "refusal", reason.Dropped)
	if n := s.calls.Load(); n != 1 {
		t.Errorf("%d attempts, want 1", n)
	}
}

// An error of the service's own is retried as it is without the gate: nothing of
// ours stands in its way.
func TestTheServicesOwnErrorsAreRetried(t *testing.T) {
	g := open(t, full())
	s := &service{say: func(context.Context, *text) (*text, error) { return nil, status.Error(codes.Unavailable, "down") }}
	quick := `{"methodConfig": [{"name": [{}], "retryPolicy": {
		"maxAttempts": 3, "initialBackoff": "0.001s", "maxBackoff": "0.001s", "backoffMultiplier": 1,
		"retryableStatusCodes": ["UNAVAILABLE"]}}]}`
	conn := setup{gate: g, retries: quick}.start(t, s)
	say(minute(t), conn, "hi")
	if n := s.calls.Load(); n != 3 {
		t.Errorf("%d attempts, want 3", n)
	}
	drained(t, g)
}
