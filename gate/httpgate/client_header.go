package httpgate

import (
	"net/http"
	"strconv"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/deadline"
)

// The headers in which an attempt says what it is. The gateway reads and writes the same.
const (
	headerIdempotencyKey = "Idempotency-Key"
	headerAttempt        = "X-Envoy-Attempt-Count"      // 1 is the first
	headerGRPCAttempts   = "Grpc-Previous-Rpc-Attempts" // absent at the first
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
		deadline.Write(h, left, false, true)
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
