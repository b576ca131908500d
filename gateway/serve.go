package gateway

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/gateway/edge"
	"github.com/spillway-dev/spillway/gateway/steer"
)

// What of a caller's connection is not the configuration's to say.
const (
	streamWindow = retainedHTTP2   // bytes taken in of a body that nobody reads
	connWindow   = 1 << 20         // the same for all streams of a connection
	closeTime    = time.Second     // for the last answers to leave
	certsEvery   = 5 * time.Second // how often certificates are looked at
)

// Serve answers on the configuration's addresses until ctx ends, then drains:
// /readyz says no, new requests are refused with reason draining, what waits
// and runs is waited for within DrainLimit, connections are closed. It returns
// nil after that, or what kept it from serving, and also once Succeed has handed
// its listeners to another process and what was left to do is done. It is called
// once.
func (g *Gateway) Serve(ctx context.Context) error {
	defer g.Close()
	in, err := g.listen()
	if err != nil {
		return err
	}
	defer in.close()
	if err := g.beginKeeping(); err != nil {
		return err
	}
	g.beginRecording()
	g.inherit(in.sockets)
	server, administration := g.server(), g.adminServer()
	failed := make(chan error, len(in.fronts)+2)
	var running sync.WaitGroup
	for _, f := range in.fronts {
		running.Go(func() { failed <- g.serve(server, f) })
	}
	running.Go(func() { failed <- closedIsNil(administration.Serve(in.admin.secure())) })
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	if g.ledger != nil {
		running.Go(func() { g.sweepLedger(watching) })
		running.Go(func() { g.resolveUnknown(watching) })
	}
	running.Go(func() { g.board.Run(watching) })
	if in.agent.Listener != nil {
		agent := &steer.Agent{Board: g.board, Draining: func() bool { return g.seen.Draining.Load() || !g.ready() }}
		running.Go(func() { failed <- closedIsNil(agent.Serve(in.agent)) })
	}
	for _, c := range in.certificates() {
		running.Go(func() { c.Watch(watching, certsEvery, g.tellOf(c)) })
	}
	g.in.Store(in) // before anybody is told: who is may want another process to take over
	g.log.Info("listening", "address", strings.Join(in.addresses(), " "), "admin", addressText(in.admin.Addr()), "tls", in.fronts[0].certs != nil)
	in.sockets.Ready()

	for waiting := true; waiting && err == nil; {
		select {
		case err = <-failed:
			waiting = err == nil // a listener that was left has ended well
		case <-g.successor:
			g.leave(ctx, in, server)
			waiting = false
		case <-ctx.Done():
			g.wind(server)
			waiting = false
		}
	}
	stopWatching()
	server.Close()
	ended, end := context.WithCancel(ctx)
	end()
	g.fronts.shutdown(ended)
	administration.Close()
	in.close()
	running.Wait()
	close(failed)
	for e := range failed {
		if err == nil {
			err = e
		}
	}
	return err
}

// wind ends the traffic.
func (g *Gateway) wind(server *http.Server) {
	g.seen.Draining.Store(true) // which is what /readyz goes by, and every answer from now on
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

// server returns the callers' server: HTTP/1.1, and HTTP/2 with or without TLS.
func (g *Gateway) server() *http.Server {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	l := g.config().Limits
	return &http.Server{
		Handler:           g.guard,
		Protocols:         p,
		ConnContext:       withConn,
		ErrorLog:          g.quiet,
		ReadHeaderTimeout: l.ReadHeader.D(),
		IdleTimeout:       l.Idle.D(),
		MaxHeaderBytes:    int(l.Header),
		// OPTIONS * is a request like any other.
		DisableGeneralOptionsHandler: true,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          l.Streams,
			MaxReceiveBufferPerStream:     streamWindow,
			MaxReceiveBufferPerConnection: connWindow,
			SendPingTimeout:               pingAfter,
			PingTimeout:                   pingTimeout,
			WriteByteTimeout:              l.WriteStall.D(),
		},
	}
}

// serve runs the callers' server on a listener until it is closed.
func (g *Gateway) serve(s *http.Server, e entrance) error {
	if e.certs != nil {
		return closedIsNil(s.Serve(e.secure()))
	}
	return closedIsNil(g.serveClear(s, e.Listener))
}

func closedIsNil(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// tellOf says in the log what became of a certificate that changed.
func (g *Gateway) tellOf(c *edge.Certificates) func(error) {
	return func(err error) {
		if err != nil {
			g.log.Warn("a changed certificate cannot be used; the one before it stays in use", "certificate", c.String(), "why", err)
			return
		}
		g.log.Info("certificate reloaded", "certificate", c.String())
	}
}

// ReloadCertificates reads the listeners' certificates again if their files have
// changed. Open connections keep what they have; what cannot be used changes
// nothing and is said in the log. Serve does the same every few seconds.
func (g *Gateway) ReloadCertificates() {
	in := g.in.Load()
	if in == nil {
		return
	}
	for _, c := range in.certificates() {
		if changed, err := c.Reload(); changed || err != nil {
			g.tellOf(c)(err)
		}
	}
}
