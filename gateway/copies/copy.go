package copies

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/gateway/wire"
	"github.com/spillway-dev/spillway/policy/spread"
)

// Copy is one copy of an upstream and the connections to it.
type Copy struct {
	set *Set
	id  spread.Copy
	url int // of Config.URLs
	target
	addresses  atomic.Pointer[[]netip.Addr] // of a name; none: not looked up yet
	main, grpc *http.Transport
	plain      *wire.Pool // nil where there is TLS, or HTTP/2 alone

	open     atomic.Int64    // connections
	asked    atomic.Bool     // for a certificate, by the copy
	outcomes [5]atomic.Int64 // by spread.Outcome
	checked  atomic.Pointer[string]

	// Guarded by the set's mu.
	drains, out bool
	unwatch     func()
}

// target is where a copy is.
type target struct {
	base      *url.URL // of requests: scheme http or https, host, path prefix
	secure    bool     // TLS
	h2c       bool
	network   string // tcp or unix
	host      string // a name or an address; the path of a socket
	port      string
	addresses []netip.Addr // that it stands for; none: a name, to be looked up
}

// targetOf returns the target of a URL.
func targetOf(u *url.URL) (target, error) {
	base := *u
	base.User = nil
	t := target{base: &base, network: "tcp", host: u.Hostname(), port: u.Port()}
	standard := "80"
	switch u.Scheme {
	case "unix":
		if u.Path == "" {
			return t, fmt.Errorf("its URL has no path of a socket; write it like unix:/run/app.sock")
		}
		t.base = &url.URL{Scheme: "http", Host: "localhost"}
		t.network, t.host = "unix", u.Path
		return t, nil
	case "h2c":
		t.h2c, base.Scheme = true, "http"
	case "http":
	case "https":
		t.secure, standard = true, "443"
	default:
		return t, fmt.Errorf("scheme %q is not one of http, https, h2c and unix", u.Scheme)
	}
	if t.host == "" {
		return t, fmt.Errorf("its URL has no host; write it like http://127.0.0.1:9001")
	}
	if t.port == "" {
		t.port = standard
	}
	if a, err := netip.ParseAddr(t.host); err == nil {
		t.addresses = []netip.Addr{a}
	}
	return t, nil
}

// at returns the target as one of its addresses.
func (t target) at(a netip.Addr) target {
	t.addresses = []netip.Addr{a}
	return t
}

// named reports whether the target has to be looked up.
func (t target) named() bool {
	_, err := netip.ParseAddr(t.host)
	return t.network == "tcp" && err != nil
}

// Name is where the copy is, as operators see it, and no other copy's: host, port and
// path prefix of its URL, "app.internal/10.0.0.1:9001" where each address of a name is
// a copy, or the path of a socket.
func (c *Copy) Name() string {
	switch {
	case c.network == "unix":
		return c.host
	case c.named() && len(c.target.addresses) == 1:
		return c.host + "/" + net.JoinHostPort(c.target.addresses[0].String(), c.port) + c.base.Path
	}
	return net.JoinHostPort(c.host, c.port) + c.base.Path
}

// Base is the URL that requests to the copy begin with. It must not be changed.
func (c *Copy) Base() *url.URL { return c.base }

// Secure reports whether Dial speaks TLS.
func (c *Copy) Secure() bool { return c.secure }

// Plain returns the pool for calls that need nothing of net/http, or nil where there
// are none: with TLS, and where HTTP/2 alone is spoken.
func (c *Copy) Plain() *wire.Pool { return c.plain }

// Transport returns the net/http transport to the copy: for gRPC one that speaks
// HTTP/2, if the URL's scheme allows it, else the one that speaks what the URL says.
func (c *Copy) Transport(grpc bool) *http.Transport {
	if grpc {
		return c.grpc
	}
	return c.main
}

func (c *Copy) closeIdle() {
	c.main.CloseIdleConnections()
	c.grpc.CloseIdleConnections()
	if c.plain != nil {
		c.plain.CloseIdle()
	}
}

// retire closes the connections on which nothing runs, and all others when nothing
// runs on them any more.
func (c *Copy) retire() {
	c.closeIdle()
	if c.plain != nil {
		c.plain.Close()
	}
}

// transports makes what Transport returns. They add nothing of their own: no proxy
// from the environment, no compression, no limit that would be a queue nobody sees.
func (c *Copy) transports() (main, grpc *http.Transport) {
	switch {
	case c.h2c:
		main = c.transport(protocols(false, true))
		return main, main
	case c.secure:
		main = c.transport(nil)
		main.ForceAttemptHTTP2 = true
		return main, main
	case c.network == "unix":
		main = c.transport(protocols(true, false))
		return main, main
	}
	return c.transport(protocols(true, false)), c.transport(protocols(false, true))
}

func protocols(http1, h2c bool) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(http1)
	p.SetUnencryptedHTTP2(h2c)
	return p
}

func (c *Copy) transport(p *http.Protocols) *http.Transport {
	return &http.Transport{
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return c.Dial(ctx) },
		DialTLSContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dial(ctx, "h2", "http/1.1") },
		TLSHandshakeTimeout:    dialTimeout,
		DisableCompression:     true,
		MaxIdleConns:           idleMost,
		MaxIdleConnsPerHost:    idleMost,
		IdleConnTimeout:        idleTimeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: headerBytesMax,
		ReadBufferSize:         ioBuffer,
		WriteBufferSize:        ioBuffer,
		Protocols:              p,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
}

// OutcomeOf returns what an answer's status says of the copy that gave it. What
// says "too much to do" is no failure, and what no server can do any better is
// none either.
func OutcomeOf(status int) spread.Outcome {
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		return spread.Busy
	case status == http.StatusNotImplemented, status == http.StatusHTTPVersionNotSupported, status < http.StatusInternalServerError:
		return spread.Answered
	}
	return spread.Failed
}
