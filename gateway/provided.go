package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/expr"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gateway/edge"
	"github.com/spillway-dev/spillway/gateway/wire"
	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/heed"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/provider"
	"github.com/spillway-dev/spillway/provider/anthropic"
	"github.com/spillway-dev/spillway/provider/generic"
	"github.com/spillway-dev/spillway/provider/openai"
)

// provided is an upstream that is a provider: what is known of it besides how it is
// reached. What a call costs is known when its body is: it is read before the request
// is offered, within a bound for all of them.
type provided struct {
	api  provider.API
	key  string
	body int64 // the most of one body
	most int64 // of all

	held  atomic.Int64 // bytes of bodies
	plain atomic.Bool  // it has refused to be asked for usage
	told  atomic.Uint64

	mu    sync.Mutex
	route heed.Route

	seen observe.Provider
}

// newProvided returns nil for an upstream that is none.
func newProvided(u config.Upstream) (*provided, error) {
	c := u.Provider
	if c.IsZero() {
		return nil, nil
	}
	p := &provided{key: c.Key.Value(), body: int64(c.Body), most: int64(c.Bodies)}
	p.seen.Upstream = u.Name
	options := provider.Options{Output: int64(c.Output), Models: models(c.Models)}
	switch c.Kind {
	case config.ProviderOpenAI:
		p.api = openai.New(options)
	case config.ProviderAnthropic:
		p.api = anthropic.New(options)
	default:
		var costs generic.Costs
		var err error
		for _, e := range []struct {
			text string
			to   **expr.Program
		}{{c.Costs.Input, &costs.Input}, {c.Costs.Output, &costs.Output}, {c.Costs.Money, &costs.Money}} {
			if e.text == "" {
				continue
			}
			if *e.to, err = expr.Compile(expr.Gap, e.text); err != nil {
				return nil, err
			}
		}
		p.api = generic.New(costs)
	}
	return p, nil
}

// models are what is known of them, the longest name first.
func models(all map[string]config.ProviderModel) (out []provider.Model) {
	const millionths = 1e6
	for name, m := range all { // sorted below
		out = append(out, provider.Model{
			Name: name, Output: int64(m.Output), Margin: int64(math.Round(float64(m.Margin))),
			Price: provider.Price{Input: int64(math.Round(m.InputPrice * millionths)), Output: int64(math.Round(m.OutputPrice * millionths))},
		})
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i].Name, out[j].Name
		return len(a) > len(b) || len(a) == len(b) && a < b
	})
	return out
}

// inherit takes over what the same upstream has said of itself, whatever else of its
// configuration is new.
func (p *provided) inherit(before *provided) {
	if p == nil || before == nil {
		return
	}
	before.mu.Lock()
	defer before.mu.Unlock()
	p.route = before.route
	p.plain.Store(before.plain.Load())
}

// priced is a request to a provider, and what becomes of it.
type priced struct {
	of   *provided
	call *provider.Call
	// why it cannot be sent, and what is wrong with it in words.
	why   reason.Reason
	wrong string

	// waits is until when the provider must not be asked, by its own word.
	waits heed.Verdict

	held int64 // bytes of its body, on the provider's account
	sent unit.Instant

	attempt atomic.Pointer[furtherAttempt] // that is settled by the answer; nil: the call is
	answer  *provider.Answer
	settled provider.Settled
	known   bool // settled is set
	unsent  bool // no connection could be made
}

// price reads a request's body and what it costs. The request is offered whatever is
// wrong with it, so that it is on its class's account.
func (p *provided) price(r *http.Request, known expr.Request) *priced {
	x := &priced{of: p}
	body, why, err := p.take(x, r)
	if err == nil {
		if r.Header["Upgrade"] != nil {
			why, err = reason.BadRequest, errSwitch
		} else if x.call, err = p.api.Read(&provider.Request{
			Method: r.Method, Path: r.URL.Path, Header: r.Header, Body: body, Known: known, Plain: p.plain.Load(),
		}); err != nil {
			why = reason.BadRequest
		}
	}
	if err != nil {
		x.why, x.wrong = why, err.Error()
		x.call = new(provider.Call)
	}
	return x
}

var (
	errSwitch   = errors.New("a connection that switches protocols cannot be counted")
	errBodies   = errors.New("requests hold all the memory that their bodies may take")
	errBodySize = errors.New("the body is larger than provider.body allows")
)

// take reads a body into memory, on the provider's account.
func (p *provided) take(x *priced, r *http.Request) (body []byte, why reason.Reason, err error) {
	if body, held := wire.HeldBody(r); held {
		return body, 0, nil
	}
	if r.ContentLength > p.body {
		return nil, reason.TooLarge, errBodySize
	}
	size := r.ContentLength
	if size < 0 {
		size = 16 << 10
	}
	var b bytes.Buffer
	for {
		if !p.hold(x, size) {
			return nil, reason.QueueBytes, errBodies
		}
		b.Grow(int(size - int64(b.Len())))
		_, err := io.CopyN(&b, r.Body, size-int64(b.Len()))
		switch {
		case err == io.EOF, err == nil && int64(b.Len()) == r.ContentLength:
			body := b.Bytes()
			r.Body = &wire.Held{ReadCloser: io.NopCloser(bytes.NewReader(body)), Bytes: body}
			r.ContentLength = int64(len(body))
			r.TransferEncoding = nil
			return body, 0, nil
		case errors.Is(err, edge.ErrTooLarge):
			return nil, reason.TooLarge, err
		case err != nil:
			return nil, reason.BadRequest, errors.New("the body broke off")
		case size >= p.body:
			return nil, reason.TooLarge, errBodySize
		}
		size = min(2*size, p.body)
	}
}

// hold has the request hold so many bytes, if all of them may.
func (p *provided) hold(x *priced, size int64) bool {
	if p.held.Add(size-x.held) > p.most {
		p.held.Add(x.held - size)
		return false
	}
	x.held = size
	return true
}

// release gives the memory of a body back.
func (x *priced) release() {
	if x != nil {
		x.of.held.Add(-x.held)
		x.held = 0
	}
}

// heed returns why the provider must not be asked now, as far as it has said so.
func (x *priced) heed(now unit.Instant) heed.Verdict {
	p := x.of
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.route.Admit(now, x.call.Amounts())
}

// took takes that the call is sent.
func (x *priced) took(now unit.Instant) {
	x.sent = now
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	x.of.route.Took(x.call.Amounts())
}

// ask is what the request asks of its class's quotas.
func (x *priced) ask() *quota.Ask {
	return &quota.Ask{Amounts: x.call.Amounts(), Model: x.call.Model}
}

// price has a request priced before it is offered, and says in the offer what it asks
// for, or why it cannot be sent. The request it returns has its body in memory.
func (c *class) price(r *http.Request, ask *gate.Request) (*priced, *http.Request) {
	r = r.WithContext(r.Context()) // its body is another from here on
	x := c.upstream.provided.price(r, &asked{r: r, class: c, ask: ask})
	r = r.WithContext(context.WithValue(r.Context(), pricedKey{}, x))
	ask.Bytes += x.held
	ask.Ask = x.ask()
	if ask.Cost == 0 {
		ask.Cost = ask.Ask.Amounts[quota.Tokens]
	}
	if ask.Refuse != reason.None {
		return x, r
	}
	if ask.Refuse = x.why; x.why == reason.None {
		if x.waits = x.heed(c.gate.Now()); x.waits.Reason != reason.None {
			ask.Refuse = x.waits.Reason
		}
	}
	return x, r
}

// until says in a refusal when to come back that the provider has caused.
func (x *priced) until(refused gate.Refusal) gate.Refusal {
	if x != nil && x.waits.Reason != reason.None && refused.Reason == x.waits.Reason {
		refused.RetryAfter = x.waits.Spread(x.of.told.Add(1))
	}
	return refused
}

// mayBeSent reports whether the exchange has been priced and may go to its provider.
// One that comes from elsewhere, as a rung of another class, is priced now.
func (x *exchange) mayBeSent() bool {
	if x.priced == nil {
		x.in = x.in.WithContext(x.in.Context())
		x.priced = x.class.upstream.provided.price(x.in, &asked{r: x.in, class: x.class, ask: new(gate.Request)})
		defer x.priced.release()
	}
	why := x.priced.why
	if why == reason.None {
		return true
	}
	x.outcome = why
	defer x.finish()
	x.refuse(x.w, gate.Refusal{Reason: why, Class: x.class.name})
	return false
}
