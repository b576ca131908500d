package httpgate

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/resend"
)

// outgoing is a request on its way through a Transport.
type outgoing struct {
	transport *Transport
	// The caller's; a copy where attempts may be under way when he has his answer, and
	// a hedge even begin: he may write to his own by then.
	request *http.Request
	body    clientBody
	keyed   bool // it goes under a key that the service honours
	key     bool // which is ours to make
}

// ask says what is known of the call before it is made.
func (x *outgoing) ask(c *caller.Caller) caller.Request {
	ask := caller.Request{Idempotent: idempotent(x.request.Method)}
	if f := x.transport.within; f != nil {
		if ask.Timeout = f(x.request); ask.Timeout < 0 {
			ask.Timeout = 1 // nobody waits any longer, which is not the same as no limit
		}
	}
	if x.transport.honoursKeys && !ask.Idempotent {
		ask.Keyed = true
		if ask.Key = x.request.Header.Get(headerIdempotencyKey); ask.Key == "" {
			x.key = c.Repeats()
		}
	}
	x.keyed = ask.Keyed
	repeats := c.Repeats() // a reload may change it
	ask.Fixed = x.body.take(x.request, repeats, x.transport.replay)
	if repeats {
		x.request = x.request.Clone(x.request.Context())
	}
	return ask
}

// idempotent lists the methods that may be done twice (RFC 9110, 9.2.2).
func idempotent(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}

// reply is an answer, and what was sent for it.
type reply struct {
	*http.Response
	sent *attemptBody
}

// attempt sends the request once. An answer that is a failure comes back as both.
func (x *outgoing) attempt(ctx context.Context, a caller.Attempt) (reply, error) {
	body, err := x.body.open(a)
	if err != nil {
		return reply{}, caller.Neutral(err)
	}
	returned := false
	defer func() {
		if !returned && body != nil {
			body.Close() // the base panicked, and closes nothing any more
		}
	}()
	var s resend.Sending
	out := x.request.WithContext(s.Watch(ctx))
	out.Header = maps.Clone(x.request.Header) // values are replaced, never written to
	if out.Header == nil {
		out.Header = http.Header{}
	}
	out.Body, out.GetBody = nil, nil
	if body != nil {
		out.Body = body
		body.follow(out)
	}
	if err := ctx.Err(); err != nil { // a hedge that begins when it has lost: whoever is below is spared it
		return reply{}, x.clientError(err, &s)
	}
	x.announce(out, a)
	resp, again, err := resend.Send(x.transport.base, out)
	returned = true
	if again {
		x.transport.resent.Add(1)
	}
	if err != nil {
		return reply{}, x.clientError(err, &s)
	}
	return reply{resp, body}, answered(resp, isGRPC(x.request), a.Number > 1 && x.keyed)
}

// Bounds of what is read of an answer that nobody wants, so that its connection can be
// used again: more than any refusal's body, and no longer than a new connection takes.
const (
	drainBytes = 32 << 10
	drainTime  = 500 * time.Millisecond
)

// discard disposes of an answer that is not the call's. Nobody waits for it.
func (x *outgoing) discard(resp reply, held caller.Held) {
	if resp.Response == nil || resp.Body == nil || resp.Body == http.NoBody {
		held.Release()
		return
	}
	go func() {
		defer held.Release()
		late := time.AfterFunc(drainTime, func() { resp.Body.Close() })
		defer late.Stop()
		defer resp.Body.Close()
		io.CopyN(io.Discard, resp.Body, drainBytes) // what cannot be read need not be
	}()
}

// keep returns an answer's body with which its attempt's context ends.
func keep(resp *http.Response, held caller.Held) io.ReadCloser {
	if resp.Body == nil || resp.Body == http.NoBody {
		held.Release()
		return resp.Body
	}
	b := keptBody{resp.Body, held}
	if w, ok := resp.Body.(io.Writer); ok {
		return upgradedBody{b, w} // 101: the connection itself
	}
	return b
}

// keptBody is an answer's body as the client reads it. Its context ends after it, so that
// a connection that can be used again is.
type keptBody struct {
	io.ReadCloser
	held caller.Held
}

// Read implements io.Reader.
func (b keptBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.held.Release()
	}
	return n, err
}

// Close implements io.Closer.
func (b keptBody) Close() error {
	defer b.held.Release()
	return b.ReadCloser.Close()
}

type upgradedBody struct {
	keptBody
	io.Writer
}

// CloseWrite tells the service that nothing more will be sent, where the connection can.
func (b upgradedBody) CloseWrite() error {
	if c, ok := b.Writer.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}

// errBodyGone is what an attempt comes to that finds no body left to send.
var errBodyGone = errors.New("httpgate: the request's body cannot be sent again")
