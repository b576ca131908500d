package rungs

import (
	"net/http"
	"strings"
)

// Bounds of what is kept of one answer, beside its body.
const (
	headerMost = 16 << 10 // bytes of its header
	varyMost   = 8        // headers that Vary names beside those that every key holds
)

// keepable lists the statuses of answers that can stand in for a later one, and
// whether that needs their explicit freshness (RFC 9110 section 15.1). Errors of the
// upstream are none: they are what is replaced.
var keepable = map[int]bool{
	http.StatusOK: false, http.StatusNonAuthoritativeInfo: false, http.StatusNoContent: false,
	http.StatusMultipleChoices: false, http.StatusMovedPermanently: false, http.StatusPermanentRedirect: false,
	http.StatusNotFound: false, http.StatusMethodNotAllowed: false, http.StatusGone: false, http.StatusRequestURITooLong: false,
	http.StatusFound: true, http.StatusSeeOther: true, http.StatusTemporaryRedirect: true,
}

// mayAsk reports whether a request is one for which answers are kept: a GET without
// a body, for nothing but an answer. A body would be part of the question, and of no
// key.
func mayAsk(r *http.Request) bool {
	return r.Method == http.MethodGet && r.ContentLength == 0 && len(r.TransferEncoding) == 0 && r.Header["Upgrade"] == nil
}

// storable reports whether the answer to a request may be kept and given again (RFC
// 9111 section 3), and on which terms.
func (c *CacheConfig) storable(r *http.Request, status int, h http.Header) (terms, bool) {
	needs, known := keepable[status]
	if !known || !mayAsk(r) {
		return terms{}, false
	}
	if asked := parseCacheControl(r.Header["Cache-Control"]); asked.noStore {
		return terms{}, false
	}
	d := parseCacheControl(h["Cache-Control"])
	t := c.termsOf(&d, h)
	switch {
	case d.noStore, d.private, d.noCache && !c.Override,
		h["Set-Cookie"] != nil, h["Content-Range"] != nil, h["Trailer"] != nil,
		needs && !t.explicit,
		t.fresh+t.stale <= 0:
		return terms{}, false
	case r.Header["Authorization"] != nil && !c.Override && !d.public && !d.mustRevalidate && !d.hasSharedMaxAge:
		return terms{}, false // RFC 9111 section 3.5
	case strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "text/event-stream"):
		return terms{}, false // it is about what happens, and ends nowhere
	}
	return t, sizeOf(h) <= headerMost
}

// sizeOf is what a header takes, in bytes.
func sizeOf(h http.Header) int {
	n := 0
	for name, values := range h { // order does not matter: a sum
		for _, v := range values {
			n += len(name) + len(v) + 32
		}
	}
	return n
}

// kept copies what is kept of an answer's header: all but what was between us and
// the upstream, what is said of every answer anew, and what each caller is told by
// itself.
func kept(h http.Header) http.Header {
	to := make(http.Header, len(h))
	for name, values := range h { // order does not matter: a map of lines
		switch name {
		case "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Connection",
			"Te", "Transfer-Encoding", "Upgrade", "Content-Length", "Age", "X-Request-Id",
			"Spillway-Rung", "Spillway-Reason", "Spillway-Shadow":
			continue
		}
		own := make([]string, len(values))
		for i, v := range values {
			own[i] = strings.Clone(v) // or a line would keep the header it was cut from
		}
		to[strings.Clone(name)] = own
	}
	return to
}
