package grpcgate

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/spillway-dev/spillway/gate/caller"
)

// UnaryClient returns an interceptor that makes unary calls under a policy: deadline,
// retries, hedges, breaker and throttle, as its Caller decides.
//
//	store, err := caller.New(call.Policy{Timeout: 25 * time.Millisecond, Retries: 1})
//	...
//	safe := grpcgate.Idempotent("/shop.Catalog/Get*")
//	conn, err := grpc.NewClient(target,
//		grpc.WithChainUnaryInterceptor(grpcgate.UnaryClient(store, safe)),
//		grpc.WithChainStreamInterceptor(grpcgate.StreamClient(store, safe)),
//		grpc.WithDisableRetry(), // grpc's own retries are out of no budget, and uncounted
//	)
//
// What the service answers is what the caller gets, also an UNAVAILABLE that the last
// attempt ended with. Any error is a gRPC status, for status.FromError; one that the call
// was given up with is a *caller.Failure too, for errors.As.
//
// Attempts. gRPC knows no method that is safe by nature: Idempotent names those that may be
// done twice, HonoursKeys those whose service does once what comes twice under one
// idempotency-key. Any other is sent again only where it surely did not run: it found no
// connection, or it was refused by an answer that says when to come back
// (grpc-retry-pushback-ms, google.rpc.RetryInfo), which is obeyed. An UNAVAILABLE without
// that may be a connection that broke.
//
// Each attempt says what it is: grpc-previous-rpc-attempts is absent at the first,
// x-envoy-attempt-count is its number, and its limit travels in grpc-timeout. It has a
// reply of its own where another may run beside it, so that a loser writes to nothing of
// the winner's; grpc.Header, grpc.Trailer, grpc.Peer and grpc.OnFinish tell of the winner,
// once. What is sent is then a copy too, if it is a proto.Message. A message of another
// codec is sent as it is, since nothing but its codec could copy it, at the price of its
// encoding for each call: where it may be hedged it must not be written to again.
//
// grpc-go sends again by itself what a server has surely not seen, also with
// WithDisableRetry; it is no attempt, since no server counts it.
//
// The interceptor may be used by many goroutines.
func UnaryClient(c *caller.Caller, opts ...ClientOption) grpc.UnaryClientInterceptor {
	return newClient(c, opts).unary
}

// StreamClient is UnaryClient for streams. A stream may be tried again until its answer
// begins, with the first header or message: what it sends is kept for that, up to 64 KiB
// (ReplayLimit), and streams on beyond. From then on it is the winner's stream and lives
// until its end or that of its context: no limit of the policy's cuts it. Messages are not
// copied: as grpc says of SendMsg, none is to be changed afterwards.
//
// The stream is there at once; whether there is a service is said by RecvMsg and Header.
// The limit of an attempt travels in x-envoy-expected-rq-timeout-ms, for grpc-timeout
// covers all of a stream and stays the caller's own. A client's stream whose service
// answers at the end only is sent to its end within that limit.
//
// An attempt runs on a goroutine of its own: a panic of an interceptor below this one is
// raised again by RecvMsg or Header, as a *caller.Panic.
func StreamClient(c *caller.Caller, opts ...ClientOption) grpc.StreamClientInterceptor {
	return newClient(c, opts).stream
}

// A ClientOption changes how a client's interceptors call.
type ClientOption func(*client)

type client struct {
	choose     func(ctx context.Context, method string) *caller.Caller
	within     func(ctx context.Context, method string) time.Duration
	idempotent func(method string) bool
	keyed      func(method string) bool
	number     bool
	replay     int64
}

// replayDefault is what a document is shorter than, and what a thousand streams that are
// not answered yet can each keep.
const replayDefault = 64 << 10

func newClient(d *caller.Caller, opts []ClientOption) *client {
	none := func(string) bool { return false }
	c := &client{
		choose:     func(context.Context, string) *caller.Caller { return d },
		idempotent: none, keyed: none,
		number: true, replay: replayDefault,
	}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Idempotent names the methods that may be done twice, in full ("/shop.Catalog/Get"); a
// final * matches any rest.
func Idempotent(methods ...string) ClientOption { return IdempotentIf(oneOf(methods)) }

// IdempotentIf has f say which methods may be done twice.
func IdempotentIf(f func(method string) bool) ClientOption {
	return func(c *client) { c.idempotent = f }
}

// HonoursKeys names the methods whose service does once what comes twice under one
// idempotency-key, as Idempotent names its; none named: all. A key is made where a call
// has none in its metadata.
func HonoursKeys(methods ...string) ClientOption {
	if len(methods) == 0 {
		methods = []string{"*"}
	}
	return func(c *client) { c.keyed = oneOf(methods) }
}

// Dependency takes the Caller of a call from f, for a connection to several services; nil:
// the call is made as it is.
func Dependency(f func(ctx context.Context, method string) *caller.Caller) ClientOption {
	return func(c *client) { c.choose = f }
}

// Within has f say for how long a call's answer is waited for, beside what its context
// says; 0: for as long as that does. Of a stream it ends when the answer begins.
func Within(f func(ctx context.Context, method string) time.Duration) ClientOption {
	return func(c *client) { c.within = f }
}

// ReplayLimit sets how many bytes of a stream's messages are kept in order to send them
// again, for each stream that is not answered yet; 0: none.
func ReplayLimit(bytes int64) ClientOption { return func(c *client) { c.replay = max(bytes, 0) } }

// PassNumber says whether an attempt's number travels with it, as it does by default.
func PassNumber(on bool) ClientOption { return func(c *client) { c.number = on } }

// oneOf reports whether a method is one of those named.
func oneOf(methods []string) func(string) bool {
	return func(method string) bool {
		for _, m := range methods {
			if start, any := strings.CutSuffix(m, "*"); m == method || any && strings.HasPrefix(method, start) {
				return true
			}
		}
		return false
	}
}
