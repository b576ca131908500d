package gateway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/gateway/edge"
	"github.com/spillway-dev/spillway/gateway/wire"
	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/reason"
)

// guarded returns the gateway behind its limits: what Serve serves.
func (g *Gateway) guarded() *edge.Guard {
	g.seen.Edge = g.atEdge
	return &edge.Guard{
		Handler: g,
		Refuse:  g.beyond,
		Conn: func(r *http.Request) net.Conn {
			c, _ := r.Context().Value(connKey{}).(net.Conn)
			return c
		},
		Held: func(r *http.Request) bool {
			_, held := wire.HeldBody(r)
			return held
		},
		Ending: func() bool { return g.seen.Draining.Load() || g.succeeded.Load() },
	}
}

// atEdge is what metrics show of connections and limits.
func (g *Gateway) atEdge() observe.Edge {
	return observe.Edge{
		Connections: int64(g.caps.Open()),
		Refused:     [2]int64{g.caps.RefusedTotal.Load(), g.caps.RefusedAddress.Load()},
		Limited:     [4]int64{g.guard.HeaderCount.Load(), g.guard.TooLarge.Load(), g.guard.SlowBody.Load(), g.guard.Resets.Load()},
	}
}

// limit puts the limits of a configuration into force, as far as they are not a
// server's, which are set once.
func (g *Gateway) limit(cfg *config.Config) {
	l := cfg.Limits
	keys := keyHeaders(cfg)
	g.caps.Set(l.Connections, l.ConnectionsPerAddress)
	g.guard.Set(edge.Limits{
		HeaderCount: l.HeaderCount,
		Body:        int64(l.Body), BodyGrace: l.BodyGrace.D(), BodyRate: int64(l.BodyRate),
		WriteStall: l.WriteStall.D(), Resets: l.Resets, PerConnection: int64(l.RequestsPerConnection),
		DropUnderscores: l.Underscores != config.UnderscoresPass,
		Protected:       func(name string) bool { return keys[name] },
	})
}

// keyHeaders are the header fields by which the configuration decides.
func keyHeaders(cfg *config.Config) map[string]bool {
	keys := map[string]bool{
		http.CanonicalHeaderKey(cfg.Trust.JWT.Header):  true,
		http.CanonicalHeaderKey(cfg.Trust.Keys.Header): true,
	}
	for _, c := range cfg.Classes {
		for _, k := range []config.Key{c.Tenant.Key, c.Tenant.Cost, c.Session.Key, c.Importance.Key} {
			if k.Kind == config.FromHeader {
				keys[k.Name] = true
			}
		}
		for name := range c.Match.Headers {
			keys[http.CanonicalHeaderKey(name)] = true
		}
	}
	return keys
}

// beyond answers a request that is larger than limits allow. It was never
// offered, and is on no class's account.
func (g *Gateway) beyond(w http.ResponseWriter, r *http.Request, status int) {
	if status == http.StatusBadRequest {
		g.unroutable(w, r, status)
		return
	}
	title, detail := "Too large", "The request's body is larger than limits.body of the gateway's configuration allows."
	if status == http.StatusRequestHeaderFieldsTooLarge {
		detail = "The request has more header fields than limits.header_count of the gateway's configuration allows."
	}
	g.decline(w, r, func() {
		h := w.Header()
		h[httpgate.HeaderRung] = []string{httpgate.RungRefusal}
		h[httpgate.HeaderReason] = []string{reason.TooLarge.String()}
		h["X-Should-Retry"] = []string{"false"}
		h["Content-Type"] = []string{"application/problem+json"}
		text := fmt.Sprintf("{\"type\":\"%s%s.md\",\"title\":%q,\"status\":%d,\"detail\":%q,\"reason\":\"%s\",\"rung\":\"%s\"}\n",
			httpgate.ReasonPage, reason.TooLarge, title, status, detail, reason.TooLarge, httpgate.RungRefusal)
		h["Content-Length"] = []string{strconv.Itoa(len(text))} // so that it is whole, whatever becomes of the connection
		w.WriteHeader(status)
		io.WriteString(w, text)
	})
}
