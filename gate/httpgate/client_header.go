package httpgate

import (
	"net/http"
	"strconv"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
)

// The headers in which an attempt says what it is. The gateway reads and writes the same.
const (
	headerIdempotencyKey = "Idempotency-Key"
	headerAttempt        = "X-Envoy-Attempt-Count"      // 1 is the first
	headerGRPCAttempts   = "Grpc-Previous-Rpc-Attempts" // absent at the first
	headerEnvoyExpected  = "X-Envoy-Expected-Rq-Timeout-Ms"
	headerEnvoyTimeout   = "X-Envoy-Upstream-Rq-Timeout-Ms"
	headerGRPCTimeout    = "Grpc-Timeout"
)

// announce writes into an attempt's header which it is, under which key, and for how long
// its answer is waited for.
func (x *outgoing) announce(out *http.Request, a caller.Attempt) {
	h := out.Header
	if x.key {
		h[headerIdempotencyKey] = []string{a.Key()}
	}
	if x.transport.number {
		n := a.Number + retriesBefore(h)
		h[headerAttempt] = []string{strconv.Itoa(n)}
		if n > 1 && isGRPC(out) {
			h[headerGRPCAttempts] = []string{strconv.Itoa(n - 1)}
		}
	}
	if left, ok := a.Left(); ok && x.transport.deadline {
		writeDeadline(h, left)
	}
}

// retriesBefore returns how many attempts the request says were made before it came
// here: a retry that is passed on stays one.
func retriesBefore(h http.Header) int {
	n, err := strconv.ParseUint(h.Get(headerAttempt), 10, 16)
	if err != nil || n < 1 {
		return 0
	}
	return int(n - 1)
}

// writeDeadline writes what is left, rounded down, into x-envoy-expected-rq-timeout-ms
// and into those of the others that are there. grpc-timeout, which covers a whole stream,
// is never made up: a limit is met when the answer begins.
func writeDeadline(h http.Header, left time.Duration) {
	left = max(left, time.Millisecond)
	millis := []string{strconv.FormatInt(left.Milliseconds(), 10)}
	h[headerEnvoyExpected] = millis
	if _, ok := h[headerEnvoyTimeout]; ok {
		h[headerEnvoyTimeout] = millis
	}
	if _, ok := h[headerGRPCTimeout]; ok {
		h[headerGRPCTimeout] = []string{formatGRPCTimeout(left)}
	}
}

// formatGRPCTimeout renders a duration in the finest unit that fits into the eight digits
// of the wire form, rounded down: nobody is promised time that is not there.
func formatGRPCTimeout(d time.Duration) string {
	for _, u := range [...]struct {
		name string
		size time.Duration
	}{{"n", 1}, {"u", time.Microsecond}, {"m", time.Millisecond}, {"S", time.Second}, {"M", time.Minute}} {
		if n := d / u.size; n < 1e8 {
			return strconv.FormatInt(int64(n), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(d/time.Hour), 10) + "H"
}
