package call

import (
	"testing"

	"github.com/spillway-dev/spillway/policy/reason"
)

// What the statuses of gRPC mean, whichever adapter hears them: busy is only what says so
// by a word on asking again, for the rest may have been done.
func TestWhatAStatusOfGRPCMeans(t *testing.T) {
	ask, never := Pushback{Asked: true, After: ms}, Pushback{Never: true}
	for _, c := range []struct {
		name string
		g    GRPC
		want Result
	}{
		{"an answer", GRPC{}, OK},
		{"busy", GRPC{Code: 14, Said: ask}, Refused},
		{"busy, never again", GRPC{Code: 14, Said: never}, Refused},
		{"unavailable, it does not say why", GRPC{Code: 14}, Broken},
		{"unavailable, to be tried again", GRPC{Code: 14, Said: Pushback{Always: true}}, Broken},
		{"unavailable behind a gateway that tried", GRPC{Code: 14, Reason: reason.Failed.String(), Said: ask}, Broken},
		{"its own limit", GRPC{Code: 8, Said: ask}, Refused},
		{"exhausted, it does not say why", GRPC{Code: 8}, Fault},
		{"a message too long", GRPC{Code: 8, Message: "grpc: received message larger than max (5 vs. 4)"}, OK},
		{"late", GRPC{Code: 4}, Broken},
		{"late in the queue", GRPC{Code: 4, Reason: reason.Expired.String()}, Refused},
		{"cut off", GRPC{Code: 1}, Broken},
		{"unknown", GRPC{Code: 2}, Fault},
		{"internal", GRPC{Code: 13}, Fault},
		{"data loss", GRPC{Code: 15}, Fault},
		{"aborted", GRPC{Code: 10}, OK},
		{"a code of tomorrow's", GRPC{Code: 99}, OK},
	} {
		want := Outcome{Result: c.want, After: c.g.Said.After, Never: c.g.Said.Never, Always: c.g.Said.Always}
		if got := c.g.Outcome(); got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}
