package httpgate

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// net/http's transport sends a request again on its own when a connection that it
// reused breaks, as often as it finds another to reuse: retries that no budget sees, and
// as many as there are idle connections where a service crashes on a request. Here it is
// made impossible, as in the gateway, and the one case in which a second sending is right
// is done in the open, once and counted: the connection had been idle for a while, so that
// the service most likely closed it just as the request was sent, and the request is one
// that may be repeated and has no body.

// staleAfter is how long a connection must have been idle for its breaking to be put down
// to that. Services close idle connections after seconds; under load one is idle for
// milliseconds.
const staleAfter = 500 * time.Millisecond

// clientSending is what is seen of a request on its way out. Its hooks are called on
// goroutines of the transport's.
type clientSending struct {
	asked, connected, wrote, began, idle atomic.Bool
}

// trace returns a context for the request that ends with ctx.
func (s *clientSending) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { s.asked.Store(true) },
		GotConn: func(c httptrace.GotConnInfo) {
			s.connected.Store(true)
			s.idle.Store(c.Reused && c.IdleTime >= staleAfter)
		},
		WroteHeaders:         func() { s.wrote.Store(true) },
		GotFirstResponseByte: func() { s.began.Store(true) },
	})
}

// stale reports whether what broke was a connection that the service had most likely
// closed before.
func (s *clientSending) stale() bool { return s.idle.Load() && !s.began.Load() }

// unsent reports whether the request surely never reached the service.
func (s *clientSending) unsent() bool { return s.asked.Load() && !s.wrote.Load() }

// invalid reports whether no connection was even asked for. Of a base that is not
// net/http's nothing is seen.
func (s *clientSending) invalid(base http.RoundTripper) bool {
	_, ours := base.(*http.Transport)
	return ours && !s.asked.Load()
}

// forbidResend makes a request one that the transport does not send again. It goes by
// the body, and one that cannot be rewound is never sent again; without one, by the method
// and the header, so that such a request gets an empty body where its method is repeated
// (on the wire nothing changes: the "identity" coding keeps it from being sent in chunks),
// and its keys are spelled in a way that is not looked for (header names have no case).
func forbidResend(out *http.Request) {
	if out.Body != nil && out.Body != http.NoBody {
		return
	}
	switch out.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		out.Body = noBody{}
		out.TransferEncoding = identityCoding
		return
	}
	for _, k := range [...][2]string{{headerIdempotencyKey, "idempotency-key"}, {"X-Idempotency-Key", "x-idempotency-key"}} {
		if v, ok := out.Header[k[0]]; ok {
			delete(out.Header, k[0])
			out.Header[k[1]] = v
		}
	}
}

var identityCoding = []string{"identity"}

// noBody is a body with nothing in it that is not http.NoBody.
type noBody struct{}

// Read implements io.Reader.
func (noBody) Read([]byte) (int, error) { return 0, io.EOF }

// WriteTo implements io.WriterTo, without which the transport gets a buffer of 32 KiB to
// copy nothing.
func (noBody) WriteTo(io.Writer) (int64, error) { return 0, nil }

// Close implements io.Closer.
func (noBody) Close() error { return nil }
