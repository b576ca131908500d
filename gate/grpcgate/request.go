package grpcgate

import (
	"context"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/deadline"
	policy "github.com/spillway-dev/spillway/policy/call"
)

// Request is what is known of a request before it runs.
type Request struct {
	// Context is the request's, with its metadata, peer and deadline.
	Context context.Context
	// Method is its full name, "/package.Service/Method".
	Method string
	// Message is the request message of a unary call, nil for a stream.
	Message any
	// Bytes is the length of that message, uncompressed; 0 for a stream, and
	// unless the server has the StatsHandler.
	Bytes int64
}

// An Option says how requests are told apart.
type Option func(*classifier)

// classifier makes of a gRPC request one for the gate.
type classifier struct {
	class      func(Request) string
	tenant     func(Request) string
	importance func(Request) int
	cost       func(Request) int64
	timeout    func(Request) time.Duration
	exempt     func(Request) bool
	deaf       bool  // to what callers say of their deadline beside grpc-timeout
	retries    bool  // callers are heeded who say that they have tried before
	costUnit   int64 // bytes to a unit of true cost; 0: the estimate stands
}

// Class takes a request's class by name from f, for example by its method. A
// name that is no class counts as the gate's first.
func Class(f func(Request) string) Option { return func(c *classifier) { c.class = f } }

// Tenant takes whom fairness is between from f; see Metadata and ClientAddress.
func Tenant(f func(Request) string) Option { return func(c *classifier) { c.tenant = f } }

// Importance takes the order within the class from f, 0 the most important.
// What is out of range counts as the last level.
func Importance(f func(Request) int) Option { return func(c *classifier) { c.importance = f } }

// Cost takes what serving is estimated to take from f, in the class's unit.
func Cost(f func(Request) int64) Option { return func(c *classifier) { c.cost = f } }

// CostByBytes makes bytes the true cost of a request: one unit for each perUnit
// of what was received and sent, rounded up, at least one. A unary call is
// estimated by its message unless Cost says otherwise. Its answer is not counted,
// for it is encoded only when the slot is free again; a stream's messages count
// both ways. It needs the StatsHandler; without it the estimate stands.
func CostByBytes(perUnit int64) Option { return func(c *classifier) { c.costUnit = max(perUnit, 1) } }

// Timeout takes how long the caller will wait for its answer from f; 0 or less
// means that it does not say. grpc-timeout counts in any case: the earlier of the
// two applies, and the class caps it.
func Timeout(f func(Request) time.Duration) Option { return func(c *classifier) { c.timeout = f } }

// HeedDeadline says whether x-envoy-expected-rq-timeout-ms and
// x-envoy-upstream-rq-timeout-ms count beside grpc-timeout, as they do by default: of a
// stream they say for how long its first message is waited for. The class caps them.
func HeedDeadline(on bool) Option { return func(c *classifier) { c.deaf = !on } }

// HeedRetries says whether callers are heeded who say that they have tried before, as they
// are not by default: in grpc-previous-rpc-attempts, x-envoy-attempt-count and
// x-stainless-retry-count. What comes of it is said at httpgate.HeedRetries.
func HeedRetries(on bool) Option { return func(c *classifier) { c.retries = on } }

// Exempt lets the requests for which f says so past the gate: they hold no slot
// and are not counted. It replaces the default, which is Health.
func Exempt(f func(Request) bool) Option { return func(c *classifier) { c.exempt = f } }

// Health reports whether a request is for the standard health service. A service
// that sheds is well; the one who asks must be told so.
func Health(r Request) bool { return strings.HasPrefix(r.Method, "/grpc.health.v1.Health/") }

// Metadata returns the first value of the named metadata: a key for Tenant.
// Without it the key is "".
func Metadata(name string) func(Request) string {
	return func(r Request) string {
		if v := metadata.ValueFromIncomingContext(r.Context, name); len(v) > 0 {
			return v[0]
		}
		return ""
	}
}

// ClientAddress returns the address of the connection's other end, without the
// port. Behind a proxy that is the proxy.
func ClientAddress(r Request) string {
	p, ok := peer.FromContext(r.Context)
	if !ok || p.Addr == nil {
		return ""
	}
	host, _, err := net.SplitHostPort(p.Addr.String())
	if err != nil {
		return p.Addr.String()
	}
	return host
}

// lastLevel is beyond every class's last level of importance.
const lastLevel = 1 << 30

// request returns what the gate is asked.
func (c *classifier) request(g *gate.Gate, r Request) gate.Request {
	ask := gate.Request{Bytes: r.Bytes}
	if c.class != nil {
		ask.Class = max(g.Class(c.class(r)), 0)
	}
	if c.tenant != nil {
		ask.Tenant = c.tenant(r)
	}
	if c.importance != nil {
		if ask.Importance = c.importance(r); ask.Importance < 0 {
			ask.Importance = lastLevel
		}
	}
	switch {
	case c.cost != nil:
		ask.Cost = c.cost(r)
	case c.costUnit > 0 && r.Bytes > 0:
		ask.Cost = c.units(r.Bytes)
	}
	if c.timeout != nil {
		ask.Timeout = max(c.timeout(r), 0)
	}
	if !c.deaf {
		var said deadline.Named
		said.Millis(metadata.ValueFromIncomingContext(r.Context, metadataExpected))
		said.Millis(metadata.ValueFromIncomingContext(r.Context, metadataUpstream))
		ask.Timeout = deadline.Sooner(ask.Timeout, said.Left)
	}
	if c.retries {
		ask.Retry, _ = policy.ReadRetried(func(name string) []string {
			return metadata.ValueFromIncomingContext(r.Context, name) // whatever its case
		})
	}
	return ask
}

// units returns the cost of so many bytes.
func (c *classifier) units(bytes int64) int64 { return max((bytes-1)/c.costUnit+1, 1) }
