package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway/wire"
)

// Bounds of the connections to an upstream.
const (
	dialTimeout    = 5 * time.Second  // what provider SDKs allow a connection
	dialKeepAlive  = 15 * time.Second // finds out that a peer is gone
	idleTimeout    = 90 * time.Second // net/http's own default
	idleMost       = 4096             // kept open although nothing runs on them; the gate bounds those in use
	headerBytesMax = 1 << 20          // of an answer
	ioBuffer       = 16 << 10         // per direction and connection
	pingAfter      = 30 * time.Second // an HTTP/2 connection is asked whether it lives
	pingTimeout    = 15 * time.Second
)

// upstream is a service and the connections to it.
type upstream struct {
	cfg  config.Upstream
	name string
	url  *url.URL
	// main speaks what the URL says; grpc always speaks HTTP/2, without which
	// there is no gRPC.
	main, grpc *http.Transport
	plain      *wire.Pool // for plain calls; nil where there are none
	bare       bool       // the URL has neither path nor query
}

// newUpstream returns the upstream for a validated configuration.
func newUpstream(u config.Upstream) (*upstream, error) {
	target, err := url.Parse(u.URL.Value())
	if err != nil || target.Host == "" {
		return nil, fmt.Errorf("upstream %s: its URL has no host; write it like http://127.0.0.1:9001", u.Name)
	}
	up := &upstream{cfg: u, name: u.Name, url: target, bare: target.Path == "" && target.RawQuery == ""}
	switch target.Scheme {
	case "h2c":
		target.Scheme = "http"
		up.main = transport(protocols(false, true))
		up.grpc = up.main
	case "http":
		up.main = transport(protocols(true, false))
		up.plain = plainPool(target)
		up.grpc = transport(protocols(false, true))
	case "https":
		up.main = transport(nil)
		up.main.ForceAttemptHTTP2 = true
		up.grpc = up.main
	default:
		return nil, fmt.Errorf("upstream %s: scheme %q is not one of http, https and h2c", u.Name, target.Scheme)
	}
	return up, nil
}

// plainPool returns a pool for plain calls to that host.
func plainPool(target *url.URL) *wire.Pool {
	dial := net.Dialer{Timeout: dialTimeout, KeepAlive: dialKeepAlive}
	addr := target.Host
	if target.Port() == "" {
		addr = net.JoinHostPort(target.Hostname(), "80")
	}
	return &wire.Pool{
		Dial:     func(ctx context.Context) (net.Conn, error) { return dial.DialContext(ctx, "tcp", addr) },
		IdleMost: idleMost,
		IdleFor:  idleTimeout,
	}
}

func protocols(http1, h2c bool) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(http1)
	p.SetUnencryptedHTTP2(h2c)
	return p
}

// transport returns a transport that adds nothing of its own: no proxy from the
// environment, no compression, no limit that would be a queue nobody sees.
func transport(p *http.Protocols) *http.Transport {
	dial := net.Dialer{Timeout: dialTimeout, KeepAlive: dialKeepAlive}
	return &http.Transport{
		DialContext:            dial.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
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

// direct points the request at the upstream.
func (u *upstream) direct(pr *httputil.ProxyRequest) {
	if pr.Out.URL.Path == "*" { // OPTIONS * asks about the server, not a path
		pr.Out.URL.Scheme, pr.Out.URL.Host = u.url.Scheme, u.url.Host
		return
	}
	pr.SetURL(u.url)
}

// carrier returns the transport for a request.
func (u *upstream) carrier(grpc bool) *http.Transport {
	if grpc {
		return u.grpc
	}
	return u.main
}

func (u *upstream) close() {
	u.main.CloseIdleConnections()
	u.grpc.CloseIdleConnections()
	if u.plain != nil {
		u.plain.Close()
	}
}
