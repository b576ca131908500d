package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Bounds of a caller's connection. They limit what one costs that does nothing
// useful; requests themselves are limited by deadlines.
const (
	headerTime   = 10 * time.Second  // to send a request's header
	keepAlive    = 120 * time.Second // idle between two requests
	headerMax    = 64 << 10          // bytes of a request's header
	streamsMost  = 250               // HTTP/2 streams on one connection
	streamWindow = retainedHTTP2     // bytes taken in of a body that nobody reads
	connWindow   = 1 << 20           // the same for all streams of a connection
	closeTime    = time.Second       // for the last answers to leave
)

// Serve answers on the configuration's addresses until ctx ends, then drains:
// /readyz says no, new requests are refused with reason draining, what waits
// and runs is waited for within DrainLimit, connections are closed. It returns
// nil after that, or what kept it from serving. It is called once.
func (g *Gateway) Serve(ctx context.Context) error {
	defer g.Close()
	front, admin, err := g.listen()
	if err != nil {
		return err
	}
	server, administration := g.server(), g.adminServer()
	failed := make(chan error, 2)
	go func() { failed <- g.serve(server, front, g.config().TLS.Cert.Value(), g.config().TLS.Key.Value()) }()
	go func() { failed <- closedIsNil(administration.Serve(admin)) }()
	g.log.Info("listening", "address", front.Addr().String(), "admin", admin.Addr().String(), "tls", !g.config().TLS.Cert.IsZero())
	if a, ok := admin.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		g.log.Warn("the admin listener has no login and is not on loopback: whoever reaches it sees tenants' names and traffic",
			"admin", admin.Addr().String(), "fix", `admin: "127.0.0.1:9900"`)
	}

	running := 2
	select {
	case err = <-failed:
		running--
	case <-ctx.Done():
	}
	if err == nil {
		g.wind(server)
	}
	server.Close()
	ended, end := context.WithCancel(ctx)
	end()
	g.fronts.shutdown(ended)
	administration.Close()
	for ; running > 0; running-- {
		if e := <-failed; err == nil {
			err = e
		}
	}
	return err
}

// wind ends the traffic.
func (g *Gateway) wind(server *http.Server) {
	g.seen.Draining.Store(true) // which is what /readyz goes by
	g.log.Info("draining", "limit", g.opts.DrainLimit)
	if g.opts.DrainDelay > 0 {
		time.Sleep(g.opts.DrainDelay)
	}
	g.draining.Store(true)
	server.SetKeepAlivesEnabled(false)
	g.fronts.drain()
	if err := g.drain(g.opts.DrainLimit); err != nil {
		g.log.Warn("what still runs is cut off", "limit", g.opts.DrainLimit)
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	server.Shutdown(ctx) // what it leaves behind is closed by force
	g.fronts.shutdown(ctx)
	g.log.Info("drained")
}

// listen opens both listeners or neither.
func (g *Gateway) listen() (front, admin net.Listener, err error) {
	front, admin = g.opts.Listener, g.opts.AdminListener
	if front == nil {
		if front, err = net.Listen("tcp", g.config().Listen[0].Address.Value()); err != nil {
			return nil, nil, fmt.Errorf("listen: %w; choose a free address with listen: in the configuration", err)
		}
	}
	if admin == nil {
		if admin, err = net.Listen("tcp", g.config().Admin.Address.Value()); err != nil {
			front.Close()
			return nil, nil, fmt.Errorf("admin: %w; choose a free address with admin: in the configuration", err)
		}
	}
	return front, admin, nil
}

// server returns the callers' server: HTTP/1.1, and HTTP/2 with or without TLS.
func (g *Gateway) server() *http.Server {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           g,
		Protocols:         p,
		ConnContext:       withConn,
		ErrorLog:          g.quiet,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       keepAlive,
		MaxHeaderBytes:    headerMax,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12},
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          streamsMost,
			MaxReceiveBufferPerStream:     streamWindow,
			MaxReceiveBufferPerConnection: connWindow,
			SendPingTimeout:               pingAfter,
			PingTimeout:                   pingTimeout,
		},
	}
}

// serve runs the callers' server on a listener until it is closed.
func (g *Gateway) serve(s *http.Server, l net.Listener, cert, key string) error {
	if cert != "" {
		return closedIsNil(s.ServeTLS(l, cert, key))
	}
	return closedIsNil(g.serveClear(s, l))
}

func closedIsNil(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
