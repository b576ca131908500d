package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/gate"
	client "github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/gate/resend"
	"github.com/spillway-dev/spillway/gateway/copies"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/spread"
)

// calls is how a class calls its upstream where its call policy has more to decide
// than when one attempt is over: retries, hedges, breaker, throttle. It is the client
// library's own transport (gate/httpgate), and below it the copies of the upstream:
// each attempt takes the one whose turn it is, and another than the attempt before.
//
// What such a call cuts off is cut off: its slot is free when the call is over,
// whatever the upstream makes of an attempt that nobody waits for.
type calls struct {
	policy    call.Policy
	caller    *client.Caller
	transport *httpgate.Transport
}

// newCalls returns nil for a policy of a single attempt. What calls have taught
// survives a reload.
func newCalls(p call.Policy, keyed, passDeadline bool, before *calls) (*calls, error) {
	if p.Single() {
		return nil, nil
	}
	c := &calls{policy: p}
	var err error
	if before != nil {
		c.caller, err = before.caller, p.Validate()
	} else {
		c.caller, err = client.New(p)
	}
	if err != nil {
		return nil, err
	}
	options := []httpgate.ClientOption{
		httpgate.PassDeadline(passDeadline),
		httpgate.Within(func(r *http.Request) time.Duration { return max(attemptsOf(r).x.permit.Remaining(), 1) }),
	}
	if keyed {
		options = append(options, httpgate.HonoursKeys())
	}
	c.transport = httpgate.NewTransport(toCopies{}, c.caller, options...)
	return c, nil
}

// begin puts the policy into force, which may have been another's until now.
func (c *calls) begin() error {
	if c == nil {
		return nil
	}
	return c.caller.Reconfigure(c.policy)
}

// govern has a class that is new call its upstream under a policy.
func (c *class) govern(p call.Policy, keyed bool, old *class) (err error) {
	var before *calls
	if old != nil && old.upstream == c.upstream {
		before = old.calls
	}
	if c.calls, err = newCalls(p, keyed, c.passDeadline, before); c.calls != nil {
		c.timeout, c.cancel = 0, true
	}
	return err
}

// attempts are those of one exchange's call.
type attempts struct {
	x    *exchange
	made atomic.Int32

	mu    sync.Mutex
	first *copies.Copy // that the exchange was given; nil once an attempt has it
	last  *copies.Copy
}

type attemptsKey struct{}

func attemptsOf(r *http.Request) *attempts { return r.Context().Value(attemptsKey{}).(*attempts) }

// take returns the copy for the next attempt.
func (a *attempts) take() (*copies.Copy, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.first, true
	if a.first = nil; c == nil {
		c, ok = a.x.class.upstream.set.Take(a.last)
	}
	if ok {
		a.last = c
	}
	return c, ok
}

// byPolicy makes the exchange's call, in as many attempts as the policy makes.
func (x *exchange) byPolicy() answer {
	a := &attempts{x: x, first: x.copy.Swap(nil)}
	x.judged = true // each attempt judges its own copy
	defer func() {
		a.mu.Lock() // a hedge that lost may begin as late as now
		defer a.mu.Unlock()
		if a.first != nil { // it was never called
			a.first.Done()
			a.first = nil
		}
	}()
	out := x.out.WithContext(context.WithValue(x.out.Context(), attemptsKey{}, a))
	res, err := x.class.calls.transport.RoundTrip(out)
	made := int(a.made.Load())
	x.several = made > 1
	if failure, ok := errors.AsType[*client.Failure](err); ok {
		err = x.callFailed(failure)
	}
	if res != nil {
		res.Header[headerAttemptCount] = []string{strconv.Itoa(made)}
		if x.several && (res.StatusCode >= http.StatusInternalServerError || res.StatusCode == http.StatusTooManyRequests) {
			res.Header[headerShouldRetry] = noRetry
		}
	}
	return answer{res, err}
}

// One layer owns the retries of a request. Where the gateway has tried again it is the
// gateway, and a client that would do so as well is told not to: three attempts of each
// of three are nine. How many there were is on the answer, as Envoy says it.
const (
	headerShouldRetry  = "X-Should-Retry"
	headerAttemptCount = "X-Envoy-Attempt-Count"
)

var noRetry = []string{"false"}

// callFailed returns what the caller is to be told of a call that has no answer.
func (x *exchange) callFailed(f *client.Failure) error {
	switch f.Reason {
	case reason.Timeout, reason.Unknown:
		x.permit.Abandon(f.Reason)
	case reason.BreakerOpen:
		x.outcome = reason.BreakerOpen
	default:
		if f.Last != nil {
			return f.Last
		}
		return f
	}
	return &refusedError{gate.Refusal{Reason: f.Reason, RetryAfter: f.RetryAfter, Class: x.class.name}}
}

// toCopies sends attempts to the copies of their exchange's upstream.
type toCopies struct{}

// RoundTrip implements http.RoundTripper. As long as no connection can be made, other
// copies are tried: nothing has been sent, and it is one attempt.
func (toCopies) RoundTrip(out *http.Request) (*http.Response, error) {
	a := attemptsOf(out)
	further, err := a.x.reserveAgain(out.Context(), int(a.made.Add(1)))
	if err != nil {
		return nil, client.Neutral(err)
	}
	body := out.Body
	for moves := 0; ; moves++ {
		copy, ok := a.take()
		if !ok {
			further.ended(nil, errNoCopy)
			return nil, client.Neutral(errNoCopy)
		}
		if out.ContentLength != 0 && body != nil && moves < movesMost {
			out.Body = &unsentBody{ReadCloser: body}
		} else {
			out.Body = body
		}
		res, err := a.send(out, copy)
		if err == nil {
			further.ended(res, nil)
			return res, nil
		}
		_, undialed := errors.AsType[*copies.DialError](err)
		switch {
		case undialed && moves < movesMost && out.Context().Err() == nil && a.others():
			continue
		case errors.Is(err, copies.ErrConnections):
			err = client.Neutral(err) // our own refusal says nothing of the upstream
		}
		if body != nil {
			body.Close()
		}
		further.ended(nil, err)
		return nil, err
	}
}

// others reports whether there is another copy than the one that was taken last.
func (a *attempts) others() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.x.class.upstream.set.Take(a.last)
	if ok && c != a.last {
		a.first = c
		return true
	}
	if ok {
		c.Done()
	}
	return false
}

// send makes an attempt at a copy.
func (a *attempts) send(out *http.Request, copy *copies.Copy) (*http.Response, error) {
	at := *a.x.in.URL
	out.URL = &at
	direct(&httputil.ProxyRequest{In: a.x.in, Out: out}, copy.Base())
	began := time.Now()
	res, again, err := resend.Send(copy.Transport(isGRPC(out)), out)
	took := time.Since(began)
	if again { // which says nothing of the copy, and is no attempt
		a.x.gateway.resent()
	}
	switch {
	case err == nil:
		copy.Judge(copies.OutcomeOf(res.StatusCode), took)
		res.Body = givesBack(res.Body, copy)
		return res, nil
	case a.x.upload != nil && a.x.upload.failed() != nil:
		copy.Judge(spread.Nothing, took) // it is the caller's body that broke off
	case errors.Is(out.Context().Err(), context.DeadlineExceeded):
		copy.Judge(spread.Late, took)
	case out.Context().Err() == nil:
		copy.Judge(blame(err), took)
	}
	copy.Done()
	return nil, copy.Explain(err)
}

// unsentBody is a body that stays open for another copy while nothing has been read of
// it: net/http closes what it could not send.
type unsentBody struct {
	io.ReadCloser
	read atomic.Bool
}

// Read implements io.Reader.
func (b *unsentBody) Read(p []byte) (int, error) {
	b.read.Store(true)
	return b.ReadCloser.Read(p)
}

// Close implements io.Closer.
func (b *unsentBody) Close() error {
	if !b.read.Load() {
		return nil
	}
	return b.ReadCloser.Close()
}

// givesBack returns an answer's body with which its copy is given back.
func givesBack(body io.ReadCloser, c *copies.Copy) io.ReadCloser {
	if body == nil || body == http.NoBody {
		c.Done()
		return body
	}
	b := &copyBody{ReadCloser: body, done: sync.OnceFunc(c.Done)}
	if w, ok := body.(io.Writer); ok {
		return copyTunnel{b, w}
	}
	return b
}

// copyBody is an answer's body as it comes from a copy.
type copyBody struct {
	io.ReadCloser
	done func()
}

// Read implements io.Reader.
func (b *copyBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.done()
	}
	return n, err
}

// Close implements io.Closer.
func (b *copyBody) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}

// copyTunnel is the connection itself, once it speaks another protocol.
type copyTunnel struct {
	*copyBody
	io.Writer
}

// CloseWrite passes on that no more will be sent.
func (t copyTunnel) CloseWrite() error { return closeWrite(t.Writer) }
