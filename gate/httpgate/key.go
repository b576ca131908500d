package httpgate

import (
	"net"
	"net/http"
)

// keyMax bounds a key that a caller sends. A longer one is cut, so that what it
// stands for is still told apart from most others and memory stays bounded.
const keyMax = 128

// Header returns the value of the named header, cut to 128 bytes: a key for
// Tenant. Without the header it is "".
func Header(name string) func(*http.Request) string {
	name = http.CanonicalHeaderKey(name)
	return func(r *http.Request) string {
		if v := r.Header[name]; len(v) > 0 {
			return cut(v[0])
		}
		return ""
	}
}

// Cookie returns the value of the named cookie, cut to 128 bytes.
func Cookie(name string) func(*http.Request) string {
	return func(r *http.Request) string {
		c, err := r.Cookie(name)
		if err != nil {
			return ""
		}
		return cut(c.Value)
	}
}

// ClientAddress returns the address of the connection's other end, without the
// port. Behind a proxy that is the proxy; use the header that it sets, and only
// if nobody else can.
func ClientAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return cut(r.RemoteAddr)
	}
	return host
}

func cut(s string) string { return s[:min(len(s), keyMax)] }
