package gateway

import (
	"net/http"
	"net/textproto"
	"strings"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gate"
)

// asked is a request as expressions see it. Until its class is known, class is nil.
type asked struct {
	r     *http.Request
	class *class
	ask   *gate.Request
}

// Method implements expr.Request.
func (a *asked) Method() string { return a.r.Method }

// Host implements expr.Request.
func (a *asked) Host() string { return strings.ToLower(config.WithoutPort(a.r.Host)) }

// Path implements expr.Request. It is the one that the upstream will see.
func (a *asked) Path() string { return a.r.URL.Path }

// Query implements expr.Request.
func (a *asked) Query(name string) (string, bool) { return config.QueryValue(a.r.URL.RawQuery, name) }

// Header implements expr.Request.
func (a *asked) Header(name string) (string, bool) {
	name = textproto.CanonicalMIMEHeaderKey(name)
	if name == "Host" {
		return a.r.Host, true
	}
	v := a.r.Header[name]
	if len(v) == 0 {
		return "", false
	}
	return v[0], true
}

// Size implements expr.Request.
func (a *asked) Size() int64 { return a.r.ContentLength }

// Class implements expr.Request.
func (a *asked) Class() string {
	if a.class == nil {
		return ""
	}
	return a.class.name
}

// Tenant implements expr.Request. It is the one that fairness goes by.
func (a *asked) Tenant() string {
	if a.ask == nil {
		return ""
	}
	return a.ask.Tenant
}

// Session implements expr.Request.
func (a *asked) Session() string {
	if a.class == nil {
		return ""
	}
	return a.Text(a.class.cfg.Session.Key)
}

// Text implements assemble.Asked.
func (a *asked) Text(k config.Key) string { return extract(k, a.r) }
