package gateway

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"sync/atomic"
	"time"
)

// net/http's transport sends a request again on its own when a connection it
// reused breaks, as often as it finds another connection to reuse. Behind an
// upstream that crashes on a request, one call becomes as many as there are
// idle connections: retries that no budget sees. Here it is made impossible,
// and the one case in which a second sending is right is done in the open, once
// and counted: the connection had been idle for a while, so that the upstream
// most likely closed it just as the request was sent, and the request is one
// that may be repeated.

// staleAfter is how long a connection must have been idle for its breaking to
// be put down to that. Upstreams close idle connections after seconds; under
// load one is idle for milliseconds.
const staleAfter = 500 * time.Millisecond

// sending is what is noted of a request on its way to the upstream.
type sending struct {
	hooks httptrace.ClientTrace
	stale bool        // the connection had been idle
	began atomic.Bool // an answer has
}

// trace returns a context that ends with ctx, for the request: with the proxy's
// own trace, and for a request that may be sent twice with what call goes by.
// It does not go by a call of several attempts, which has its own eyes on each.
func (s *sending) trace(ctx context.Context, out *http.Request, several bool) context.Context {
	if proxy := httptrace.ContextClientTrace(out.Context()); proxy != nil {
		s.hooks.Got1xxResponse = proxy.Got1xxResponse
	}
	if !several && out.Body == nil && repeatable(out.Method) {
		s.hooks.GotConn = s.gotConn
		s.hooks.GotFirstResponseByte = s.gotFirstByte
	}
	return httptrace.WithClientTrace(ctx, &s.hooks)
}

func (s *sending) gotConn(c httptrace.GotConnInfo) {
	s.stale = c.Reused && c.IdleTime >= staleAfter
}

func (s *sending) gotFirstByte() { s.began.Store(true) }

// call sends the exchange's request and returns the answer. As long as no
// connection can be made, other copies are tried.
func (u *upstream) call(x *exchange) answer {
	if x.class.calls != nil {
		return x.byPolicy()
	}
	for {
		a := u.send(x)
		if a.err == nil {
			return a
		}
		if !x.another(a.err) {
			a.err = x.copy.Load().Explain(a.err)
			return a
		}
		at := *x.in.URL
		x.out.URL = &at
		direct(&httputil.ProxyRequest{In: x.in, Out: x.out}, x.copy.Load().Base())
	}
}

// send sends it to the copy that the exchange has.
func (u *upstream) send(x *exchange) answer {
	out := x.out
	t := x.copy.Load().Transport(isGRPC(out))
	if out.Body != nil {
		res, err := t.RoundTrip(out)
		return answer{res, err}
	}
	if !repeatable(out.Method) {
		concealKeys(out.Header)
		res, err := t.RoundTrip(out)
		return answer{res, err}
	}
	forbidResend(out)
	res, err := t.RoundTrip(out)
	if err != nil && x.sending.stale && !x.sending.began.Load() && out.Context().Err() == nil {
		x.gateway.resent()
		res, err = t.RoundTrip(out)
	}
	return answer{res, err}
}

// repeatable lists the methods that net/http repeats: the safe ones.
func repeatable(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// forbidResend gives a request without a body an empty one that cannot be
// rewound, which is what the transport goes by. On the wire nothing changes:
// the "identity" coding keeps it from being sent in chunks.
func forbidResend(out *http.Request) {
	out.Body = empty{}
	out.TransferEncoding = identity
}

var identity = []string{"identity"}

// empty is a body with nothing in it that is not http.NoBody.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, io.EOF }

// WriteTo implements io.WriterTo, without which the transport would get a
// buffer of 32 KiB to copy nothing.
func (empty) WriteTo(io.Writer) (int64, error) { return 0, nil }

func (empty) Close() error { return nil }

// concealKeys spells the two headers that make the transport repeat any method
// in a way that it does not look for. Header names have no case.
func concealKeys(h http.Header) {
	for canonical, lower := range map[string]string{
		"Idempotency-Key": "idempotency-key", "X-Idempotency-Key": "x-idempotency-key",
	} {
		if v, ok := h[canonical]; ok {
			delete(h, canonical)
			h[lower] = v
		}
	}
}
