package httpgate

import (
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/deadline"
	policy "github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
)

// An Option says how requests are told apart.
type Option func(*classifier)

// classifier makes of an HTTP request one for the gate.
type classifier struct {
	class      func(*http.Request) string
	tenant     func(*http.Request) string
	session    func(*http.Request) string
	importance func(*http.Request) int
	cost       func(*http.Request) int64
	timeout    func(*http.Request) time.Duration
	deaf       bool // to what callers say of their deadline
	retries    bool // callers are heeded who say that they have tried before
}

// Class takes a request's class by name from f, for example a constant for
// each route. A name that is no class counts as the gate's first.
func Class(f func(*http.Request) string) Option { return func(c *classifier) { c.class = f } }

// Tenant takes whom fairness is between from f; see Header, Cookie and
// ClientAddress.
func Tenant(f func(*http.Request) string) Option { return func(c *classifier) { c.tenant = f } }

// Importance takes the order within the class from f, 0 the most important.
// What is out of range counts as the last level.
func Importance(f func(*http.Request) int) Option { return func(c *classifier) { c.importance = f } }

// Cost takes what serving is estimated to take from f, in the class's unit.
func Cost(f func(*http.Request) int64) Option { return func(c *classifier) { c.cost = f } }

// Timeout takes how long the caller will wait for its answer from f; 0 or less
// means that it does not say. The sooner of this and of what HeedDeadline reads applies,
// the class's default if neither says anything, and the class caps what is said.
func Timeout(f func(*http.Request) time.Duration) Option {
	return func(c *classifier) { c.timeout = f }
}

// HeedDeadline says whether a request's own word on how long its caller waits is its
// deadline, as it is by default: grpc-timeout, x-envoy-expected-rq-timeout-ms and
// x-envoy-upstream-rq-timeout-ms, of several the smallest, capped by the class. What makes
// no sense is ignored, and what has passed is refused.
func HeedDeadline(on bool) Option { return func(c *classifier) { c.deaf = !on } }

// HeedRetries says whether callers are heeded who say that they have tried before, as they
// are not by default: in x-envoy-attempt-count, grpc-previous-rpc-attempts and
// x-stainless-retry-count. Where the class has Pool.RetriesLast a retry then goes after
// first tries of its importance, and finds the room full when it is half full. To say so
// can only cost a caller, and what makes no sense says nothing: no header comes before
// anybody. But who says it comes after those who keep quiet, so switch it on where callers
// are your own, or all of them say it.
func HeedRetries(on bool) Option { return func(c *classifier) { c.retries = on } }

// request returns what the gate is asked.
func (c *classifier) request(g *gate.Gate, r *http.Request) gate.Request {
	var ask gate.Request
	if c.class != nil {
		ask.Class = max(g.Class(c.class(r)), 0)
	}
	if c.tenant != nil {
		ask.Tenant = c.tenant(r)
	}
	if c.session != nil {
		if s := c.session(r); s != "" {
			ask.Session = gate.SessionKey(s)
		}
	}
	if c.importance != nil {
		if ask.Importance = c.importance(r); ask.Importance < 0 {
			ask.Importance = lastLevel
		}
	}
	if c.cost != nil {
		ask.Cost = c.cost(r)
	}
	if c.timeout != nil {
		ask.Timeout = max(c.timeout(r), 0)
	}
	if !c.deaf {
		ask.Timeout = deadline.Sooner(ask.Timeout, deadline.Read(r.Header).Left)
	}
	if c.retries {
		ask.Retry, _ = policy.ReadRetried(func(name string) []string { return r.Header[name] })
	}
	return ask
}

// lastLevel is beyond every class's last level of importance.
const lastLevel = 1 << 30

// Middleware returns what protects a handler with the gate. The package comment
// says how a handler fares behind it. All of it may be used by many goroutines.
func Middleware(g *gate.Gate, opts ...Option) func(http.Handler) http.Handler {
	c := new(classifier)
	for _, o := range opts {
		o(c)
	}
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			serve(g, c.request(g, r), h, w, r)
		})
	}
}

// serve asks the gate, and answers a refusal before a byte of the body is read:
// a caller that expects a 100 (Continue) gets its refusal first.
func serve(g *gate.Gate, ask gate.Request, h http.Handler, w http.ResponseWriter, r *http.Request) {
	overdue := make(chan gate.Refusal, 1)
	ask.OnOverdue = func(refused gate.Refusal) { overdue <- refused }
	permit, refused := g.Enter(r.Context(), ask)
	if refused.Reason != reason.None {
		Answer(w, r, refused)
		return
	}
	if !permit.Governed() {
		MarkShadow(w.Header(), permit, "")
	}
	newCall(permit, w, r).serve(h, overdue)
}
