package gateway

import (
	"net"
	"net/http"
	"net/http/httputil"
	"strings"

	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Header values that never change are shared; nobody writes to them.
var (
	rungPrimary  = []string{httpgate.RungPrimary}
	reasonServed = []string{reason.Served.String()}
	reasonFailed = []string{reason.Failed.String()}
	protoHTTP    = []string{"http"}
	protoHTTPS   = []string{"https"}
	noAgent      = []string{""}
)

// silence keeps net/http from naming itself where the caller named nobody. All
// else is rewritten by RoundTrip, which knows the exchange; that there is a
// Rewrite at all has the proxy strike off what callers say of themselves.
func silence(pr *httputil.ProxyRequest) {
	if h := pr.Out.Header; h["User-Agent"] == nil {
		h["User-Agent"] = noAgent
	}
}

// forwarded tells the upstream whom it answers, as ProxyRequest.SetXForwarded
// does, with one allocation for all of it.
func forwarded(pr *httputil.ProxyRequest, secure bool) {
	h := pr.Out.Header
	values := make([]string, 2)
	if client, _, err := net.SplitHostPort(pr.In.RemoteAddr); err == nil {
		values[0] = client
		h["X-Forwarded-For"] = values[0:1:1]
	} else {
		delete(h, "X-Forwarded-For")
	}
	values[1] = pr.In.Host
	h["X-Forwarded-Host"] = values[1:2:2]
	h["X-Forwarded-Proto"] = protoHTTP
	if secure {
		h["X-Forwarded-Proto"] = protoHTTPS
	}
}

// hand moves the answer's header to the caller's, which the proxy would else
// copy value by value. What the proxy itself goes by stays: all of it when
// protocols are switched, and the type of a stream of events, which is flushed.
func (x *exchange) hand(res *http.Response) {
	if res.StatusCode == http.StatusSwitchingProtocols {
		return
	}
	to := x.w.Header()
	if _, typed := res.Header["Content-Type"]; !typed {
		to["Content-Type"] = nil // or net/http would guess one
	}
	for name, values := range res.Header {
		if _, taken := to[name]; taken || name == "Content-Type" && events(values) {
			continue
		}
		to[name] = values
		delete(res.Header, name)
	}
}

// events reports whether a content type may be that of server-sent events.
func events(contentType []string) bool {
	return len(contentType) > 0 && strings.Contains(strings.ToLower(contentType[0]), "event-stream")
}
