package gateway

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"
)

// adminServer returns the operator's server. It shares nothing with the way of
// a request but the gates' locks, each held for microseconds: it answers
// however much is offered.
func (g *Gateway) adminServer() *http.Server {
	return &http.Server{
		Handler:           g.Admin(),
		ErrorLog:          g.quiet,
		ReadTimeout:       headerTime,
		ReadHeaderTimeout: headerTime,
		WriteTimeout:      2 * time.Minute, // a CPU profile takes a while
		IdleTimeout:       keepAlive,
		MaxHeaderBytes:    headerMax,
	}
}

// Admin returns the handler behind the admin listener, for a program that has
// one of its own:
//
//	GET /livez        200 as long as the process answers, whatever is shed
//	GET /readyz       200, or 503 while it drains
//	GET /metrics      Prometheus
//	GET /debug/pools  what waits, how long and why, as text or JSON by Accept
//
// It answers only requests whose Host is an address or localhost, so that no
// web page can make an operator's browser read it under a name of its own (DNS
// rebinding).
func (g *Gateway) Admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", g.readyz)
	mux.Handle("GET /metrics", g.seen.Handler())
	mux.HandleFunc("GET /debug/pools", g.pools)
	if g.opts.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		if !addressed(r.Host) {
			http.Error(w, "the admin listener answers to an IP address or localhost only; use one of them in the URL", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// addressed reports whether a Host header names an address, not a name that
// somebody else's DNS server could point here.
func addressed(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	return strings.EqualFold(host, "localhost") || net.ParseIP(host) != nil
}

func (g *Gateway) readyz(w http.ResponseWriter, _ *http.Request) {
	if g.seen.Draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
