package httpgate

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
)

// Transport is an http.RoundTripper that calls what a request goes to under a policy:
// deadline, retries, hedges, breaker and throttle, as its Caller decides.
//
//	store, err := caller.New(call.Policy{Timeout: 25 * time.Millisecond, Retries: 1})
//	...
//	client := &http.Client{Transport: httpgate.NewTransport(nil, store)}
//
// What the service answers is what the client gets, also a 503 that the last attempt
// ended with: only a call without any answer is an error, a *caller.Failure within the
// client's *url.Error. An answer is passed on as it comes, and no limit cuts it once it
// has begun.
//
// Attempts. GET, HEAD, OPTIONS, TRACE, PUT and DELETE may be done twice; anything
// else is sent again only where it surely did not run, or under an Idempotency-Key to a
// service that honours it (HonoursKeys). 429, and 503 that says when to come back, mean
// that it did not run; 502 and 504 that nobody knows, 500 that it failed, and 503 alone
// that it is busy. Retry-After, retry-after-ms, x-should-retry and what else services
// say of coming back is obeyed. What net/http's transport would send again by itself,
// uncounted, it does not: see Resent.
//
// Each attempt says what it is: x-envoy-attempt-count is its number, and what is left
// of its limit travels in x-envoy-expected-rq-timeout-ms (and in grpc-timeout, where the
// request has one), so that a service knows for how long somebody waits.
//
// Bodies. What may be sent again is kept while it is sent, up to 64 KiB (ReplayLimit); a
// body that proves longer streams on and is not sent again. Request.GetBody is used where
// there is one (not for a body with trailers, which belong to one reading of it), and
// nothing is kept where the policy sends nothing twice.
//
// A request is its caller's again as http.RoundTripper has it, once the answer's body is
// closed: what may be sent later, by a hedge that lost, is a copy, which a policy that can
// send twice costs; and then GetBody is not called any more, nor a read begun of any body
// but the answered attempt's.
//
// A Transport may be used by many goroutines at once.
type Transport struct {
	base   http.RoundTripper
	choose func(*http.Request) *caller.Caller

	within      func(*http.Request) time.Duration
	honoursKeys bool
	deadline    bool
	number      bool
	replay      int64

	resent atomic.Int64
}

// A ClientOption changes how a Transport calls.
type ClientOption func(*Transport)

// Dependency takes the Caller of what a request goes to from f, for a client of several
// services; nil: the request is sent as it is.
func Dependency(f func(*http.Request) *caller.Caller) ClientOption {
	return func(t *Transport) { t.choose = f }
}

// Within has f say for how long a request's answer is waited for, beside what its context
// says; 0: for as long as that does. Unlike a context's deadline it ends when the answer
// begins.
func Within(f func(*http.Request) time.Duration) ClientOption {
	return func(t *Transport) { t.within = f }
}

// HonoursKeys says that the service does once what comes twice under one
// Idempotency-Key, so that any request may be sent again. One is made where a request
// that needs it has none.
func HonoursKeys() ClientOption { return func(t *Transport) { t.honoursKeys = true } }

// ReplayLimit sets how many bytes of a body are kept in order to send it again, for each
// request in flight; 0: none.
func ReplayLimit(bytes int64) ClientOption {
	return func(t *Transport) { t.replay = max(bytes, 0) }
}

// PassDeadline says whether what is left of an attempt's limit travels with it, as it
// does by default.
func PassDeadline(on bool) ClientOption { return func(t *Transport) { t.deadline = on } }

// PassNumber says whether an attempt's number travels with it, as it does by default.
func PassNumber(on bool) ClientOption { return func(t *Transport) { t.number = on } }

// replayDefault is what a form or a JSON document is shorter than, and what a thousand
// requests in flight can each keep.
const replayDefault = 64 << 10

// NewTransport returns a Transport over base (nil: http.DefaultTransport) that calls one
// service by way of c, or several by Dependency.
func NewTransport(base http.RoundTripper, c *caller.Caller, opts ...ClientOption) *Transport {
	if base == nil {
		base = http.DefaultTransport
	}
	t := &Transport{
		base: base, choose: func(*http.Request) *caller.Caller { return c },
		deadline: true, number: true, replay: replayDefault,
	}
	for _, o := range opts {
		o(t)
	}
	return t
}

// Resent returns how many requests were sent a second time because the connection they
// went out on had been closed by the service while it was idle.
func (t *Transport) Resent() int64 { return t.resent.Load() }

// CloseIdleConnections closes those of the base; http.Client's method calls it.
func (t *Transport) CloseIdleConnections() {
	if b, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		b.CloseIdleConnections()
	}
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := t.choose(req)
	if c == nil {
		return t.base.RoundTrip(req)
	}
	x := &outgoing{transport: t, request: req}
	ask := x.ask(c)
	var won reply
	defer func() { x.body.settle(won.sent) }() // also where the base panics
	won, held, err := caller.Hold(req.Context(), c, ask, x.attempt, x.discard)
	if won.Response == nil {
		held.Release()
		return nil, err
	}
	won.Request = req
	won.Body = keep(won.Response, held)
	return won.Response, nil
}
