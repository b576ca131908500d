package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/config"
)

// Bounds of an operator's connection.
const (
	adminHeaderTime = 10 * time.Second
	adminIdle       = 2 * time.Minute
	adminHeaderMax  = 64 << 10
)

// adminServer returns the operator's server. It shares nothing with the way of
// a request but the gates' locks, each held for microseconds: it answers
// however much is offered.
func (g *Gateway) adminServer() *http.Server {
	return &http.Server{
		Handler:           g.Admin(),
		ErrorLog:          g.quiet,
		ReadTimeout:       adminHeaderTime,
		ReadHeaderTimeout: adminHeaderTime,
		WriteTimeout:      2 * time.Minute, // a CPU profile takes a while
		IdleTimeout:       adminIdle,
		MaxHeaderBytes:    adminHeaderMax,
	}
}

// Admin returns the handler behind the admin listener, for a program that has
// one of its own:
//
//	GET /livez        200 as long as the process answers, whatever is shed
//	GET /readyz       200, or 503 while it drains or, if its policy says so, sheds
//	GET /metrics      Prometheus
//	GET /debug/pools  what waits, how long and why, as text or JSON by Accept
//	GET /debug/upstreams  the copies of each upstream: who is left out, why and for how long
//	GET /explain      why requests were not answered in full: ?id=, or ?tenant=&class=&reason=&since=&limit=
//	GET /ledger       budgets, and calls whose end is not known: ?state=&tenant=&owner=&budget=&after=&limit=
//	GET /ledger/call  every attempt of the call ?id=
//	GET /ledger/audit every counter of the ledger, added up again
//	POST /ledger/reconcile  what is unknown ends, by evidence: ?id=&known=1|notstarted=1&used=&evidence=TEXT
//	GET /scale        how many slots what is offered would take, for autoscalers
//	GET /apis/external.metrics.k8s.io/v1beta1  the same, as Kubernetes asks for it
//	GET /jobs         jobs, newest first: ?class=&tenant=&state=&after=&limit=&keys=1; GET /jobs/ID[/answer] one of them
//	POST /jobs        a job is brought; DELETE /jobs/ID takes it back
//	POST /jobs/ID/resolve  what is unknown ends, by evidence: ?notstarted=1&evidence=TEXT
//	POST /feedback    what is said of an answer: {"id": ..., "score": 0..1} or "accepted"
//	POST /reload      the configuration is read again; ?dry=1 only says what would change
//	POST /override    limits of a class, for a time: ?class=NAME&slots=20&for=10m&why=TEXT
//	GET /overrides    which are in force, and who did what and why
//	POST /operate     a class is switched by hand: ?class=NAME&mode=refuse&for=10m&why=TEXT
//
// It answers only requests whose Host is an address, localhost or one of
// admin.hosts, so that no web page can make an operator's browser read it under a
// name of its own (DNS rebinding); none that a web page sends to another origin
// (CSRF); and where admin.token is set, none without it, but for the two health
// paths while admin.open_health is on.
func (g *Gateway) Admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", g.readyz)
	mux.Handle("GET /metrics", g.seen.Handler())
	mux.HandleFunc("GET /debug/pools", g.pools)
	mux.HandleFunc("GET /debug/upstreams", g.upstreams)
	mux.HandleFunc("GET /explain", g.explain)
	mux.HandleFunc("GET /scale", g.board.Report)
	g.board.External(mux)
	mux.HandleFunc("POST /feedback", g.feedback)
	g.operations(mux)
	g.ledgerPaths(mux)
	g.jobPaths(mux)
	if g.opts.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	sameOrigin := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := g.config().Admin
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		switch {
		case !addressed(r.Host, a.Hosts):
			http.Error(w, "the admin listener answers to an IP address or localhost, or a name in admin.hosts; use one of them in the URL", http.StatusMisdirectedRequest)
		case !mayAsk(r, a):
			h.Set("WWW-Authenticate", `Bearer realm="spillway admin"`)
			http.Error(w, "send the token of the configuration: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		default:
			sameOrigin.ServeHTTP(w, r)
		}
	})
}

// addressed reports whether a Host header names an address, or a name that was
// configured: not one that somebody else's DNS server could point here.
func addressed(host string, names []string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	return strings.EqualFold(host, "localhost") || net.ParseIP(host) != nil ||
		slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, host) })
}

// mayAsk reports whether the request carries the token, where there is one. How
// long it takes does not depend on how much of a wrong one is right.
func mayAsk(r *http.Request, a config.Admin) bool {
	if a.Token.IsZero() || a.OpenHealth.On() && (r.URL.Path == "/livez" || r.URL.Path == "/readyz") {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(given)), tokenSum(a.Token.Value())
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want) == 1
}

// tokenSum returns the SHA-256 of a token that is written as it is, or as
// sha256:HEX. A token is random and long, so that its plain hash tells nobody.
func tokenSum(t string) []byte {
	if text, ok := strings.CutPrefix(t, "sha256:"); ok {
		sum, err := hex.DecodeString(text)
		if err != nil {
			return nil // which no token has
		}
		return sum
	}
	sum := sha256.Sum256([]byte(t))
	return sum[:]
}
