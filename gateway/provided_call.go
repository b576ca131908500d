package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/gateway/copies"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/provider"
)

// secrets are the headers in which callers prove who they are, and which speak of
// their account somewhere else: none of them is the provider's business.
var secrets = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "Openai-Organization", "Openai-Project",
	"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded"}

// dress makes a request the provider's: its body as it is sent, under the provider's
// own key and name, and nothing of the caller's.
func (x *priced) dress(out *http.Request, who *trusting) {
	h := out.Header
	for _, name := range secrets {
		delete(h, name)
	}
	if who != nil && who.cfg.KeyHeader != "" {
		delete(h, textproto.CanonicalMIMEHeaderKey(who.cfg.KeyHeader))
	}
	if x.of.key != "" {
		x.of.api.Authorize(h, x.of.key)
	}
	h["Accept-Encoding"] = []string{"identity"} // what is compressed cannot be read
	out.Host = out.URL.Host
	x.carry(out, x.call.Body)
}

// carry gives the request a body, which may be sent again.
func (x *priced) carry(out *http.Request, body []byte) {
	if len(body) == 0 {
		out.Body, out.GetBody, out.ContentLength = nil, nil, 0
		return
	}
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.Body, _ = out.GetBody()
	out.ContentLength = int64(len(body))
	out.Header["Content-Length"] = []string{strconv.Itoa(len(body))}
}

// judgedMost is how much of an answer that is no success is read to know what it says,
// and judgedFor how long it is waited for.
const (
	judgedMost = 64 << 10
	judgedFor  = 5 * time.Second
)

// send makes the call, once more without what was added to it where the service refuses
// that: such a try never reached the model. It heeds what the answer says.
func (x *priced) send(e *exchange, once func() answer) answer {
	x.took(e.class.gate.Now())
	a := once()
	if a.err == nil && x.call.Plain != nil && refusable(a.res.StatusCode) {
		body := x.beginning(e, a.res)
		if bytes.Contains(body, []byte("stream_options")) || bytes.Contains(body, []byte("include_usage")) {
			a.res.Body.Close()
			x.of.plain.Store(true)
			x.of.seen.Refused.Add(1)
			x.carry(e.out, x.call.Plain)
			x.call.Body, x.call.Plain = x.call.Plain, nil
			a = once()
		}
	}
	if a.err != nil {
		_, x.unsent = errors.AsType[*copies.DialError](a.err)
		return a
	}
	x.hear(e, a.res)
	return a
}

// refusable reports whether a status may be that of a service which does not know a
// member of the request.
func refusable(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status == http.StatusNotFound
}

// beginning reads the beginning of an answer's body, which stays to be read.
func (x *priced) beginning(e *exchange, res *http.Response) []byte {
	stop := time.AfterFunc(judgedFor, func() { e.sever(errIdle) })
	defer stop.Stop()
	b, err := io.ReadAll(io.LimitReader(res.Body, judgedMost))
	rest := io.Reader(res.Body)
	if err != nil {
		rest = &brokenReader{err}
	}
	res.Body = &begun{io.MultiReader(bytes.NewReader(b), rest), res.Body}
	return b
}

type begun struct {
	io.Reader
	io.Closer
}

type brokenReader struct{ err error }

// Read implements io.Reader.
func (b *brokenReader) Read([]byte) (int, error) { return 0, b.err }

// hear takes what an answer's header, and where it is no success its body, say of the
// provider.
func (x *priced) hear(e *exchange, res *http.Response) {
	p, now, wall := x.of, e.class.gate.Now(), time.Now()
	told := p.api.Told(res.Header, wall)
	p.mu.Lock()
	for u, l := range told {
		p.route.Told(now, quota.Unit(u), l)
	}
	p.mu.Unlock()
	if res.StatusCode < http.StatusBadRequest {
		p.mu.Lock()
		p.route.Succeeded(x.sent)
		p.mu.Unlock()
		return
	}
	t := p.api.Judge(res.StatusCode, res.Header, x.beginning(e, res), wall)
	x.conclude(x.call.Refused(t))
	p.seen.Trouble(res.StatusCode)
	switch t.Scope {
	case provider.OfRoute, provider.OfLimit:
		p.mu.Lock()
		p.route.Pause(now, t.Wait)
		p.mu.Unlock()
	case provider.OfKey:
		e.gateway.log.Warn("a provider does not take our key", "upstream", e.class.upstream.name, "status", res.StatusCode)
		x.hideKey(e, res)
	}
	if t.Final {
		res.Header["X-Should-Retry"] = noRetry
	} else if t.Wait > 0 && res.Header["Retry-After"] == nil {
		res.Header["Retry-After"] = []string{strconv.FormatInt(int64((t.Wait+time.Second-1)/time.Second), 10)}
	}
}

// hideKey replaces what a provider says of our key, which may name a part of it. To the
// caller, whose key is good, it is a service that fails.
func (x *priced) hideKey(e *exchange, res *http.Response) {
	res.Body.Close()
	body := append(append([]byte(`{"error":`), x.of.api.Problem(provider.Broken, "the gateway's own access to the service does not work")...), '}')
	res.StatusCode, res.Status = http.StatusBadGateway, ""
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res.Header = http.Header{
		"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(body))}, "X-Should-Retry": noRetry,
	}
}

// ours are headers of an answer that speak of our account with the provider.
func ours(name string) bool {
	return name == "Set-Cookie" || name == "Openai-Organization" || name == "Openai-Project" || name == "Anthropic-Organization-Id" ||
		strings.HasPrefix(name, "X-Ratelimit-") || strings.HasPrefix(name, "Anthropic-Ratelimit-")
}

// conclude notes what came of the call; what is noted first holds.
func (x *priced) conclude(s provider.Settled) {
	if !x.known {
		x.settled, x.known = s, true
		x.of.seen.Settled(s.State.String(), s.Input, s.Output, s.Failed)
	}
}

// settle tells the quotas what the call has used, before its permit is finished.
func (x *exchange) settlePriced() {
	p := x.priced
	if p == nil || p.why != reason.None {
		return
	}
	if p.answer != nil && !p.known {
		p.conclude(p.answer.End(provider.CutByUs))
	}
	switch {
	case p.unsent:
		return // its start marker says so
	case !p.known:
		p.conclude(p.call.Lost())
	}
	f := p.attempt.Load()
	switch {
	case p.settled.State == provider.Unknown && f != nil:
		f.lose(noWord)
	case p.settled.State == provider.Unknown:
		x.permit.Lose(noWord)
	case f != nil:
		f.settleAs(p.settled.Amounts)
	default:
		x.permit.Settle(p.settled.Amounts)
	}
}

const noWord = "no word from the provider of what it has used"

// takes takes an attempt, of a call that is made in several, for the one whose answer
// is settled by what it says: the first whose answer came to its end.
func (x *priced) takes(f *furtherAttempt) bool {
	return x != nil && (x.attempt.CompareAndSwap(nil, f) || x.attempt.Load() == f)
}

// has reports whether it is that.
func (x *priced) has(f *furtherAttempt) bool { return x != nil && x.attempt.Load() == f }

// cutByUs reports whether a call ended because its caller did.
func (x *exchange) cutByUs() bool {
	return x.in.Context().Err() != nil || x.out != nil && context.Cause(x.out.Context()) == errCallerGone
}
