package grpcgate

import (
	"context"
	"strconv"

	"google.golang.org/grpc/metadata"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/deadline"
)

// The metadata in which an attempt says what it is.
const (
	metadataKey      = "idempotency-key"
	metadataAttempt  = "x-envoy-attempt-count"      // 1 is the first
	metadataAttempts = "grpc-previous-rpc-attempts" // absent at the first
	metadataExpected = "x-envoy-expected-rq-timeout-ms"
	metadataUpstream = "x-envoy-upstream-rq-timeout-ms"
)

// ask says what is known of a call before it is made.
func (c *client) ask(ctx context.Context, method string) caller.Request {
	ask := caller.Request{Idempotent: c.idempotent(method)}
	if c.within != nil {
		ask.Timeout = max(c.within(ctx, method), 0)
	}
	if !ask.Idempotent && c.keyed(method) {
		ask.Keyed = true
		ask.Key = first(outgoing(ctx)[metadataKey])
	}
	return ask
}

// announce returns an attempt's context with the metadata that says which it is, under
// which key, and of a stream for how long its answer is waited for.
func (c *client) announce(ctx context.Context, a caller.Attempt, keyed, stream bool) context.Context {
	md := outgoing(ctx) // a copy
	if md == nil {
		md = metadata.MD{}
	}
	if keyed && len(md[metadataKey]) == 0 {
		md[metadataKey] = []string{a.Key()}
	}
	if c.number {
		n := a.Number + before(md)
		md[metadataAttempt] = []string{strconv.Itoa(n)}
		if n > 1 {
			md[metadataAttempts] = []string{strconv.Itoa(n - 1)}
		}
	}
	if left, ok := a.Left(); ok && stream {
		md[metadataExpected] = []string{deadline.Millis(left)}
	}
	return metadata.NewOutgoingContext(ctx, md)
}

// before returns how many attempts the call says were made before it came here: a retry
// that is passed on stays one.
func before(md metadata.MD) int {
	n, err := strconv.ParseUint(first(md[metadataAttempt]), 10, 16)
	if err != nil || n < 1 {
		return 0
	}
	return int(n - 1)
}

func outgoing(ctx context.Context) metadata.MD {
	md, _ := metadata.FromOutgoingContext(ctx)
	return md
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
