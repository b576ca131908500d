package gateway

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/spillway-dev/spillway/gateway/wire"
)

// fronts are the servers of plain requests, one a listener without TLS. They share
// the work with the callers' net/http server, and end with it.
type fronts struct {
	accepting sync.WaitGroup // those whose listeners are open

	mu      sync.Mutex
	servers []*wire.Server
}

// serveClear serves a listener without TLS until it is closed: plain requests by
// package wire, and all others by rest, which closes the listener in the end.
func (g *Gateway) serveClear(rest *http.Server, l net.Listener) error {
	if g.opts.LongWay {
		return rest.Serve(l)
	}
	handed := wire.NewHanded(l)
	plain := &wire.Server{
		Handler:     rest.Handler,
		HandOver:    handed.HandOver,
		Watch:       g.hangups.watchConn,
		ConnContext: withConn,
		Fresh:       rest.ReadHeaderTimeout,
		Idle:        rest.IdleTimeout,
		Stall:       g.idle,
		ErrorLog:    g.quiet,
	}
	g.fronts.add(plain)
	g.fronts.accepting.Add(1)
	var both sync.WaitGroup
	var failed error
	both.Go(func() {
		failed = plain.Serve(l)
		g.fronts.accepting.Done()
		if failed != nil {
			handed.Close()
		}
	})
	err := rest.Serve(handed)
	handed.Close()
	both.Wait()
	if failed != nil {
		return failed
	}
	return err
}

func (f *fronts) add(s *wire.Server) {
	f.mu.Lock()
	f.servers = append(f.servers, s)
	f.mu.Unlock()
}

func (f *fronts) all() []*wire.Server {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*wire.Server(nil), f.servers...)
}

// drain makes every answer the last of its connection.
func (f *fronts) drain() {
	for _, s := range f.all() {
		s.Drain()
	}
}

// shutdown waits for the connections to end, and closes them when ctx does.
func (f *fronts) shutdown(ctx context.Context) {
	var all sync.WaitGroup
	for _, s := range f.all() {
		all.Go(func() { s.Shutdown(ctx) })
	}
	all.Wait()
}
