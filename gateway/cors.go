package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/config"
)

// What web pages of other origins may see (the Fetch standard, "CORS protocol"). An
// answer of the service passes as it is, with our headers exposed besides; an answer
// of our own is readable for the origins of the configuration.

// exposed are the headers that the gateway adds to answers, or answers with.
var exposed = []string{"Spillway-Rung, Spillway-Reason, Retry-After, X-Should-Retry, X-Request-Id"}

const (
	headerExpose = "Access-Control-Expose-Headers"
	headerOrigin = "Access-Control-Allow-Origin"
)

// expose lets scripts read our headers of the service's answer. The header is a list:
// what the service exposes stays.
func (g *Gateway) expose(h http.Header, r *http.Request) {
	if r.Header["Origin"] == nil || !g.config().CORS.Expose.On() {
		return
	}
	if theirs := h[headerExpose]; len(theirs) > 0 {
		h[headerExpose] = append(theirs[:len(theirs):len(theirs)], exposed...)
		return
	}
	h[headerExpose] = exposed
}

// own lets the pages of allowed origins read an answer of our own.
func (g *Gateway) own(h http.Header, r *http.Request) {
	if r.Header["Origin"] == nil {
		return
	}
	c := &g.config().CORS
	if allow(h, r, c) && c.Expose.On() {
		h[headerExpose] = exposed
	}
}

// allow says who may read the answer, and reports whether the request's origin may.
func allow(h http.Header, r *http.Request, c *config.CORS) bool {
	if len(c.Origins) == 0 {
		return false
	}
	h.Add("Vary", "Origin") // the next one may not
	origin := r.Header.Get("Origin")
	if len(r.Header["Origin"]) != 1 || !c.Allows(origin) {
		return false
	}
	h[headerOrigin] = []string{origin}
	if c.Credentials.On() {
		h["Access-Control-Allow-Credentials"] = []string{"true"}
	}
	return true
}

// preflight answers a browser's question before a request, where the configuration
// says that the gateway does, and reports whether it did. It costs neither the
// service nor a slot: what is asked for is refused, if it must be, when it comes.
func (g *Gateway) preflight(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodOptions || r.Header["Origin"] == nil || r.Header["Access-Control-Request-Method"] == nil || unread(r) {
		return false
	}
	c := &g.config().CORS
	if c.Preflights != config.PreflightsAnswer {
		return false
	}
	h := w.Header()
	if allow(h, r, c) {
		h["Access-Control-Allow-Methods"] = []string{strings.Join(c.Methods, ", ")}
		h["Access-Control-Max-Age"] = []string{strconv.Itoa(int(c.MaxAge.D().Seconds()))}
		if len(c.Headers) == 1 && c.Headers[0] == "*" { // which with credentials is not a wildcard to browsers
			h.Add("Vary", "Access-Control-Request-Headers")
			if asked := r.Header["Access-Control-Request-Headers"]; len(asked) == 1 {
				h["Access-Control-Allow-Headers"] = asked
			}
		} else {
			h["Access-Control-Allow-Headers"] = []string{strings.Join(c.Headers, ", ")}
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}
