package grpcgate_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/grpcgate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// The codes of every reason: ours, the caller's own limit, too late; and that
// nothing else shares RESOURCE_EXHAUSTED with the caller's own limit.
func TestCodes(t *testing.T) {
	want := map[codes.Code]string{
		codes.ResourceExhausted: "rate_limited tenant_full quota_requests quota_tokens quota_concurrency",
		codes.Unavailable:       "shed_for_load queue_full queue_bytes infeasible draining operator ledger_unavailable dropped block_timeout evicted failed breaker_open",
		codes.DeadlineExceeded:  "expired timeout unknown",
		codes.Canceled:          "caller_gone",
		codes.InvalidArgument:   "bad_request too_large key_conflict",
		codes.Unauthenticated:   "unauthorized",
		codes.Aborted:           "key_in_progress",
	}
	for _, why := range reason.All() {
		if why.Kind() == reason.KindDone {
			continue
		}
		if code := grpcgate.Status(gate.Refusal{Reason: why}).Code(); !slices.Contains(strings.Fields(want[code]), why.String()) {
			t.Errorf("%v has code %v", why, code)
		}
		if caller := why.Kind() == reason.KindCaller; caller != (httpgate.Status(why) == 429) {
			t.Errorf("%v: the kind and the HTTP status tell different stories", why)
		}
	}
}

// What a refusal says in its details, for every reason: who says so and why, when
// to come back unless it is never, and nothing of the gate's insides.
func TestDetails(t *testing.T) {
	never := strings.Fields("dropped caller_gone unknown bad_request unauthorized too_large key_conflict")
	for _, why := range reason.All() {
		if why.Kind() == reason.KindDone {
			continue
		}
		for _, hint := range []time.Duration{0, 1, 999_999, time.Millisecond, 1500 * time.Millisecond, 30 * time.Second} {
			st := grpcgate.Status(gate.Refusal{Reason: why, RetryAfter: hint, Class: "checkout"})
			var info *errdetails.ErrorInfo
			var retry *errdetails.RetryInfo
			for _, d := range st.Details() {
				switch d := d.(type) {
				case *errdetails.ErrorInfo:
					info = d
				case *errdetails.RetryInfo:
					retry = d
				default:
					t.Errorf("%v: detail %T", why, d)
				}
			}
			if info == nil || info.Domain != grpcgate.Domain || info.Reason != strings.ToUpper(why.String()) || len(info.Metadata) != 1 || info.Metadata["class"] != "checkout" {
				t.Fatalf("%v: %v", why, info)
			}
			if slices.Contains(never, why.String()) != (retry == nil) {
				t.Fatalf("%v: retry %v", why, retry)
			}
			if retry == nil {
				continue
			}
			d := retry.RetryDelay.AsDuration()
			if d%time.Millisecond != 0 || d < time.Millisecond || hint > 0 && (d < hint || d-hint >= time.Millisecond) {
				t.Errorf("%v: told %v, promised %v", why, d, hint)
			}
		}
	}
	if st := grpcgate.Status(gate.Refusal{Reason: reason.QueueFull, Class: "\xff"}); len(st.Details()) != 2 {
		t.Error("a class's name of other bytes lost the details")
	}
}

// The trailer and the details say the same, to the millisecond, over the wire.
func TestTheTrailerSaysTheSame(t *testing.T) {
	for _, c := range []struct {
		rule gate.Class
		why  reason.Reason
	}{
		{full(), reason.QueueFull},
		{gate.Class{Pool: gate.Pool{Slots: 1, Latency: time.Millisecond, Service: time.Millisecond, WhenFull: dropRule}}, reason.Dropped},
	} {
		t.Run(c.why.String(), func(t *testing.T) {
			g := open(t, c.rule)
			defer hold(t, g, 1)()
			conn := setup{gate: g}.start(t, &service{say: echo})
			a := say(minute(t), conn, "hi")
			a.want(t, codes.Unavailable, "refusal", c.why)
			pushback, err := strconv.ParseInt(strings.Join(a.trailer["grpc-retry-pushback-ms"], ","), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			told := int64(-1)
			for _, d := range statusOf(a.err).Details() {
				if r, ok := d.(*errdetails.RetryInfo); ok {
					told = r.RetryDelay.AsDuration().Milliseconds()
				}
			}
			if pushback != told {
				t.Errorf("pushback %d ms, RetryInfo %d ms", pushback, told)
			}
		})
	}
}
