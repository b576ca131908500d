package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strconv"

	"github.com/spillway-dev/spillway/config"
)

// keyMax bounds what of a request is kept as a key, in bytes: long enough for
// ids, addresses and most tokens, short enough that a million of them fit.
const keyMax = 128

// extract returns what the key names in the request, "" where there is nothing.
// A value longer than keyMax becomes its first bytes and a hash of all of it,
// so that two long keys stay two. Nothing is trusted but the connection itself:
// a forwarded-for header is only a header.
func extract(k config.Key, r *http.Request) string {
	switch k.Kind {
	case config.FromHeader:
		return bounded(headerValue(r, k.Name))
	case config.FromCookie:
		if c, err := r.Cookie(k.Name); err == nil {
			return bounded(c.Value)
		}
	case config.FromQuery:
		value, _ := config.QueryValue(r.URL.RawQuery, k.Name)
		return bounded(value)
	case config.FromPath:
		return bounded(config.PathSegment(r.URL.Path, k.Segment))
	case config.FromClient:
		if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
			return bounded(host)
		}
		return bounded(r.RemoteAddr)
	}
	return ""
}

// headerValue returns a header's first value. net/http keeps Host out of the
// header map.
func headerValue(r *http.Request, name string) string {
	if name == "Host" {
		return r.Host
	}
	if v := r.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func bounded(s string) string {
	if len(s) <= keyMax {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	mark := "~" + hex.EncodeToString(sum[:16])
	return s[:keyMax-len(mark)] + mark
}

// level returns the index of an importance in the class's levels; whatever is
// not one of them is the last.
func level(levels config.Words, value string) int {
	for i, l := range levels {
		if l == value {
			return i
		}
	}
	return max(len(levels)-1, 0)
}

// cost returns a request's declared cost, 0 for none that is a whole number
// from 1. What is too large is cut by the policy.
func cost(value string) int64 {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 {
		return 0
	}
	return n
}
