package gateway

import (
	"net"
	"net/http"
	"net/netip"

	"github.com/spillway-dev/spillway/observe"
)

// HeaderOperator names who asks for a change, on the admin listener. No web page
// can send it to another origin without being asked first (CORS), which is why a
// change without it is refused.
const HeaderOperator = "Spillway-Operator"

// operatorMax bounds how an operator is named in the log, in bytes.
const operatorMax = 64

// operations adds what changes something to the admin listener's paths.
func (g *Gateway) operations(mux *http.ServeMux) {
	mux.HandleFunc("POST /reload", g.byOperator(g.serveReload))
	mux.HandleFunc("POST /override", g.byOperator(g.serveOverride))
	mux.HandleFunc("GET /overrides", g.serveOverrides)
	mux.HandleFunc("POST /operate", g.byOperator(g.serveOperate))
}

// byOperator lets a request through that an operator makes on purpose: it names
// one, and unless the listener knows whom it lets in (a token, a client
// certificate) it comes from this machine.
func (g *Gateway) byOperator(next func(w http.ResponseWriter, r *http.Request, by string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		by := observe.Printable(r.Header.Get(HeaderOperator), operatorMax)
		switch {
		case by == "":
			http.Error(w, "name who asks in the header "+HeaderOperator+": NAME", http.StatusForbidden)
		case !g.config().Admin.Guarded() && !local(r.RemoteAddr):
			http.Error(w, "without admin.token or admin.tls.client_ca, changes are taken from this machine only", http.StatusForbidden)
		default:
			next(w, r, by)
		}
	}
}

// local reports whether a connection comes from this machine: a loopback
// address, or a unix socket, whose peers have no address.
func local(remote string) bool {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote == "" || remote[0] == '@'
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
