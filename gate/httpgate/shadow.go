package httpgate

import (
	"net/http"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
)

// HeaderShadow says on an answer what would have become of its request at
// admission, where the decision was not carried out: run, wait, or the reason of
// a refusal. Answers to governed requests do not have it.
const HeaderShadow = "Spillway-Shadow"

var (
	shadowRun  = []string{"run"}
	shadowWait = []string{"wait"}
)

// MarkShadow writes HeaderShadow for an admitted request, if it applies, and
// returns the refusal that the request would have been answered with, if any.
// The zero Refusal is none. Call it before the answer begins.
func MarkShadow(h http.Header, p gate.Permit, class string) gate.Refusal {
	v, shadowed := p.Would()
	switch {
	case !shadowed:
	case v.Kind == boundary.Run:
		h[HeaderShadow] = shadowRun
	case v.Kind == boundary.Wait:
		h[HeaderShadow] = shadowWait
	default:
		h[HeaderShadow] = names[v.Reason]
		return gate.Refusal{Reason: v.Reason, RetryAfter: v.RetryAfter, Class: class}
	}
	return gate.Refusal{}
}

// Session takes whose experience must not flicker from f: a session is decided
// for in earnest, or not, as a whole. See Header, Cookie and ClientAddress.
func Session(f func(*http.Request) string) Option { return func(c *classifier) { c.session = f } }
