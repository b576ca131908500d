package gateway

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/gateway/copies"
	"github.com/spillway-dev/spillway/policy/spread"
)

// Bounds of HTTP/2 connections.
const (
	pingAfter   = 30 * time.Second // one is asked whether it lives
	pingTimeout = 15 * time.Second
)

// upstream is a service: its copies and the connections to them.
type upstream struct {
	cfg  config.Upstream
	name string
	set  *copies.Set
	// provided is what is known of it as a provider; nil: it is none.
	provided *provided
}

// newUpstream returns the upstream for a validated configuration with its defaults
// filled in. It does nothing by itself until start.
func newUpstream(u config.Upstream, log *slog.Logger) (*upstream, error) {
	cfg := copies.Config{
		Name:         u.Name,
		Spread:       assemble.Copies(u),
		Weights:      u.Weights(),
		All:          u.Resolve.Addresses == config.AddressesAll,
		ResolveEvery: u.Resolve.Every.D(),
		TLS: copies.TLS{
			CA: u.TLS.CA.Value(), Cert: u.TLS.Cert.Value(), Key: u.TLS.Key.Value(),
			ServerName: u.TLS.ServerName, MinVersion: tlsVersions[u.TLS.MinVersion],
		},
		Logger: log,
	}
	if h := u.Health; h.Checked() {
		cfg.Health = copies.Health{
			Kind: healthKinds[h.Kind], Path: h.Path, Status: h.Status, Service: h.Service,
			Interval: h.Interval.D(), Timeout: h.Timeout.D(),
		}
	}
	for _, c := range u.Copies() {
		at, err := url.Parse(c.URL.Value())
		if err != nil {
			return nil, fmt.Errorf("upstream %s: a URL cannot be read; write it like http://127.0.0.1:9001", u.Name) // it may hold a secret
		}
		cfg.URLs = append(cfg.URLs, at)
	}
	set, err := copies.New(cfg)
	if err != nil {
		return nil, err
	}
	p, err := newProvided(u)
	if err != nil {
		return nil, fmt.Errorf("upstream %s: provider: %w", u.Name, err)
	}
	return &upstream{cfg: u, name: u.Name, set: set, provided: p}, nil
}

var tlsVersions = map[config.TLSVersion]uint16{"tls1.2": tls.VersionTLS12, "tls1.3": tls.VersionTLS13}

var healthKinds = map[config.HealthKind]copies.Kind{
	config.HealthHTTP: copies.HTTP, config.HealthConnect: copies.Connect, config.HealthGRPC: copies.GRPC,
}

// start has names followed and copies checked, and applies what may change of an
// upstream that stays: it is called for every generation that comes into force.
func (u *upstream) start(cfg config.Upstream) {
	u.set.Reconfigure(assemble.Copies(cfg), cfg.Weights())
	u.set.Start()
}

func (u *upstream) close() { u.set.Close() }

// direct points the request at a copy. It stays one for the host that the caller named.
func direct(pr *httputil.ProxyRequest, base *url.URL) {
	defer func() { pr.Out.Host = pr.In.Host }()
	if pr.Out.URL.Path == "*" { // OPTIONS * asks about the server, not a path
		pr.Out.URL.Scheme, pr.Out.URL.Host = base.Scheme, base.Host
		return
	}
	pr.SetURL(base)
}

// targetAt is what is asked for at a copy.
func targetAt(base, in *url.URL) string {
	if base.Path == "" {
		return in.RequestURI()
	}
	out := http.Request{URL: new(url.URL)}
	*out.URL = *in
	(&httputil.ProxyRequest{Out: &out}).SetURL(base)
	return out.URL.RequestURI()
}

// movesMost is how often a request goes to another copy because no connection to
// one could be made. A second is likely to be well; more would be a storm of dials.
const movesMost = 2

// errNoCopy is met where a set has lost all its copies, which it never should.
var errNoCopy = errors.New("BUG: the upstream has no copy at all")

// take gives the exchange a copy, if there is one. It is given back where the permit
// is.
func (x *exchange) take() bool {
	c, ok := x.class.upstream.set.Take(nil)
	if ok {
		x.copy.Store(c)
	}
	return ok
}

// another moves the exchange to another copy, if there is one, after no connection
// to the one it had could be made: nothing has been sent.
func (x *exchange) another(err error) bool {
	_, undialed := errors.AsType[*copies.DialError](err)
	if !undialed || x.moves == movesMost || x.in.Context().Err() != nil || x.late.Load() != nil {
		return false
	}
	old := x.copy.Load()
	next, ok := x.class.upstream.set.Take(old)
	if !ok || next == old {
		if ok {
			next.Done()
		}
		return false
	}
	x.moves++
	x.copy.Store(next)
	old.Judge(blame(err), x.class.gate.Now().Sub(x.granted))
	old.Done()
	return true
}

// judge says what came of the call, as far as it says anything of the copy. Only
// the first word counts.
func (x *exchange) judge(o spread.Outcome) {
	if !x.judged {
		x.judged = true
		if x.heard == 0 {
			x.heard = x.class.gate.Now()
		}
		x.copy.Load().Judge(o, x.heard.Sub(x.granted))
	}
}

// judgeCall judges by an answer's status, or by the error that came instead.
func (x *exchange) judgeCall(status int, err error) {
	x.unsent = err != nil && undialed(err)
	switch {
	case err == nil:
		x.judge(copies.OutcomeOf(status))
	case x.late.Load() != nil, x.outOfTime():
		x.judge(spread.Late)
	case x.in.Context().Err() != nil, x.upload != nil && x.upload.failed() != nil:
		x.judge(spread.Nothing)
	default:
		x.judge(blame(err))
	}
}

// blame says what an error says of the copy. That it has all the connections that
// it may have is our doing.
func blame(err error) spread.Outcome {
	if errors.Is(err, copies.ErrConnections) {
		return spread.Busy
	}
	return spread.Failed
}

// give gives the copy back; the upstream has nothing more to do for the exchange.
func (x *exchange) give() {
	if c := x.copy.Load(); c != nil {
		c.Done()
	}
}
