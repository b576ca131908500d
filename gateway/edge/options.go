package edge

import (
	"net/http"
	"net/textproto"
	"strings"
)

// hopByHop are the connection options that mean something by themselves. What
// they name is for this hop and is dealt with by the server and the proxy.
var hopByHop = map[string]bool{
	"Close": true, "Keep-Alive": true, "Upgrade": true, "Te": true, "Trailer": true,
	"Transfer-Encoding": true, "Http2-Settings": true, "Proxy-Connection": true,
}

// endToEnd are fields that are meant for whoever answers: no Connection header may
// take them away (RFC 9110, section 7.6.1), and their senders may be a balancer in
// front of us and not whoever wrote Connection.
var endToEnd = map[string]bool{
	"Host": true, "Authorization": true, "Cookie": true, "Content-Length": true, "Content-Type": true,
	"Content-Encoding": true, "Cache-Control": true, "Date": true, "Expect": true, "Idempotency-Key": true,
	"Forwarded": true, "X-Forwarded-For": true, "X-Forwarded-Host": true, "X-Forwarded-Proto": true, "X-Real-Ip": true,
	"X-Request-Id": true, "Traceparent": true, "Tracestate": true, "Grpc-Timeout": true,
	"X-Envoy-Expected-Rq-Timeout-Ms": true, "X-Envoy-Upstream-Rq-Timeout-Ms": true,
}

// nominate carries out a Connection header before anybody looks at the others, so
// that what is decided by and what is sent on are the same: fields it names are
// removed, but for those that are not its to name. What is left of it are options
// that mean something by themselves.
func nominate(h http.Header, protected func(string) bool) {
	values := h["Connection"]
	if len(values) == 0 || len(values) == 1 && plainOption(values[0]) {
		return
	}
	var kept []string
	for _, v := range values {
		for option := range strings.SplitSeq(v, ",") {
			option = textproto.TrimString(option)
			name := textproto.CanonicalMIMEHeaderKey(option)
			switch {
			case name == "":
			case hopByHop[name]:
				kept = append(kept, option)
			case endToEnd[name] || protected != nil && protected(name):
			default:
				delete(h, name)
			}
		}
	}
	if len(kept) == 0 {
		delete(h, "Connection")
		return
	}
	h["Connection"] = []string{strings.Join(kept, ", ")}
}

// noTunnel removes an offer to speak HTTP/2 from here on. A service that took it up
// would be asked by its caller directly, past every decision (h2c smuggling).
func noTunnel(h http.Header) {
	delete(h, "Http2-Settings")
	for _, v := range h["Upgrade"] {
		for offer := range strings.SplitSeq(strings.ToLower(v), ",") {
			if offer = textproto.TrimString(offer); strings.HasPrefix(offer, "h2") || strings.HasPrefix(offer, "http/") {
				delete(h, "Upgrade")
				return
			}
		}
	}
}

func plainOption(v string) bool {
	return strings.EqualFold(v, "keep-alive") || strings.EqualFold(v, "close") || strings.EqualFold(v, "upgrade")
}

// count returns how many fields a header has. With drop it removes those with an
// underscore in their names, which a gateway interface such as CGI or WSGI cannot
// tell from the same with a hyphen: X_Forwarded_For would be X-Forwarded-For.
func count(h http.Header, drop bool) int {
	n := 0
	for name, values := range h { // order does not matter: each is looked at
		n += len(values)
		if drop && strings.IndexByte(name, '_') >= 0 {
			delete(h, name)
		}
	}
	return n
}
