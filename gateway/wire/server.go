package wire

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server answers plain requests on the connections that it accepts, and hands
// every other connection on. Its fields are set before Serve and not changed.
type Server struct {
	// Handler answers. A plain request's context ends when its caller hangs up,
	// and the writer can do what net/http's for HTTP/1.1 can, but hijack.
	Handler http.Handler
	// HandOver takes over a connection on which something that is not plain was
	// read; its Read begins with that.
	HandOver func(net.Conn)
	// Watch has gone called, once, when the connection's peer hangs up, until
	// stop. If it returns false, the connection is handed over: a caller's
	// leaving has to be noticed while nobody reads.
	Watch func(c net.Conn, gone func()) (stop func(), ok bool)
	// ConnContext gives the requests of a connection their values.
	ConnContext func(context.Context, net.Conn) context.Context
	// Fresh bounds the time to a connection's first byte, Idle that between two
	// requests, Stall that of one write which the caller does not take. They are
	// kept to the second.
	Fresh, Idle, Stall time.Duration
	// ErrorLog is told of handlers that panic.
	ErrorLog *log.Logger

	tick     atomic.Int64 // seconds since Serve
	date     atomic.Pointer[string]
	draining atomic.Bool

	mu    sync.Mutex
	conns map[*conn]struct{}
	ended bool // no more connections are taken
	all   sync.WaitGroup
}

// Serve accepts connections until the listener is closed. It is called once. What
// has been accepted is served on, and closed where it stands still for too long.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.conns == nil {
		s.conns = make(map[*conn]struct{})
		s.stamp(time.Now())
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go s.keepTime(done)
	// Nobody is added from then on: the clock ends with the last who was accepted.
	defer func() { go func() { s.all.Wait(); close(done) }() }()

	var pause time.Duration
	for {
		c, err := l.Accept()
		if err == nil {
			pause = 0
			s.take(c)
			continue
		}
		var temporary interface{ Temporary() bool }
		if !errors.As(err, &temporary) || !temporary.Temporary() {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		// Out of descriptors, most likely: what is open goes on meanwhile.
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		time.Sleep(pause)
	}
}

// take begins to serve a connection, or hands it over.
func (s *Server) take(c net.Conn) {
	k := &conn{server: s, Conn: c, remote: c.RemoteAddr().String()}
	stop, ok := s.Watch(c, k.hungUp)
	if !ok {
		s.HandOver(c)
		return
	}
	k.unwatch = stop
	k.base = s.ConnContext(context.Background(), c)
	k.turn(fresh)
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		stop()
		c.Close()
		return
	}
	s.conns[k] = struct{}{}
	s.all.Add(1)
	s.mu.Unlock()
	go k.serve()
}

func (s *Server) forget(c *conn) {
	c.unwatch()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.all.Done()
}

// keepTime counts seconds and closes what has stood still for too long.
func (s *Server) keepTime(done chan struct{}) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-done:
			return
		case now := <-t.C:
			s.tick.Add(1)
			s.stamp(now)
			s.closeThose(s.late)
		}
	}
}

func (s *Server) stamp(now time.Time) {
	date := now.UTC().Format(http.TimeFormat)
	s.date.Store(&date)
}

// late reports whether a connection in that state since then is to be closed.
func (s *Server) late(st state, since int64) bool {
	most := [...]time.Duration{fresh: s.Fresh, idle: s.Idle, writing: s.Stall, closed: 0}[st]
	return most > 0 && s.tick.Load()-since > int64(most/time.Second)
}

func (s *Server) closeThose(which func(state, int64) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns { // order does not matter: each is looked at
		for now := c.now.Load(); which(stateOf(now)); now = c.now.Load() {
			if c.now.CompareAndSwap(now, pack(closed, 0)) { // else it does something else by now: look again
				c.Conn.Close()
				c.hungUp() // or its handler would never know
				break
			}
		}
	}
}

// Drain has every answer from now on be the last of its connection, and closes
// those on which nothing runs any more. Who has just connected is answered.
func (s *Server) Drain() {
	s.draining.Store(true)
	s.closeThose(func(st state, _ int64) bool { return st == idle })
}

// Shutdown takes no more connections and waits until none is left, or ctx ends, when
// it closes those that are left, has their requests' contexts end, and waits for
// their handlers.
func (s *Server) Shutdown(ctx context.Context) {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.draining.Store(true)
	s.closeThose(func(st state, _ int64) bool { return st == idle || st == fresh })
	stop := context.AfterFunc(ctx, func() { s.closeThose(func(state, int64) bool { return true }) })
	defer stop()
	s.all.Wait()
}
