package wire

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
)

// readMost is what is read at a time, and so the longest plain request, header
// and body. It is what net/http keeps for an idle connection too.
const readMost = 4 << 10

// state is what a connection is doing.
type state int64

const (
	fresh   state = iota // waits for its first byte
	idle                 // waits for another request
	busy                 // a request runs
	writing              // an answer is being written
	closed               // by the server
)

func pack(st state, tick int64) int64     { return tick<<3 | int64(st) }
func stateOf(packed int64) (state, int64) { return state(packed & 7), packed >> 3 }

// conn is a caller's connection.
type conn struct {
	net.Conn
	server  *Server
	base    context.Context
	remote  string
	unwatch func()

	now     atomic.Int64           // what it does, and since which tick
	gone    atomic.Bool            // the peer hung up
	bounded atomic.Bool            // writing has a deadline, which is that of one answer
	call    atomic.Pointer[caller] // of the request that runs

	in, out []byte
	w       writer
}

// turn goes over to a state, unless the server has closed the connection.
func (c *conn) turn(to state) bool {
	for {
		now := c.now.Load()
		if st, _ := stateOf(now); st == closed {
			return false
		}
		if c.now.CompareAndSwap(now, pack(to, c.server.tick.Load())) {
			return true
		}
	}
}

// hungUp is called when the peer is gone.
func (c *conn) hungUp() {
	c.gone.Store(true)
	if call := c.call.Load(); call != nil {
		call.cancel()
	}
}

// serve answers requests until one is not plain, or there are no more.
func (c *conn) serve() {
	c.in = make([]byte, readMost)
	for {
		n, err := c.Conn.Read(c.in)
		if n == 0 || err != nil || !c.turn(busy) {
			c.end()
			return
		}
		call := &caller{Context: c.base}
		r, ok := parse(call, c.in[:n], c.remote)
		if !ok {
			c.server.forget(c)
			c.server.HandOver(&replayed{c.Conn, c.in[:n]})
			return
		}
		if !c.answer(r, call) || !c.turn(idle) || c.server.draining.Load() {
			c.end()
			return
		}
	}
}

func (c *conn) end() {
	c.server.forget(c)
	c.Conn.Close()
}

// answer has the request answered, and reports whether another may follow.
func (c *conn) answer(r *http.Request, call *caller) (more bool) {
	c.call.Store(call)
	if c.gone.Load() { // between the store and this nobody is missed
		call.cancel()
	}
	defer func() {
		c.call.Store(nil)
		call.cancel()
		if v := recover(); v != nil {
			c.panicked(v)
			more = false
		}
	}()
	c.w = writer{conn: c, request: r, last: r.Close}
	c.server.Handler.ServeHTTP(&c.w, r)
	more = c.w.finish() && !c.bounded.Load()
	c.w = writer{conn: c} // an idle connection keeps nothing of what was asked
	return more
}

func (c *conn) panicked(v any) {
	if v == http.ErrAbortHandler || c.server.ErrorLog == nil {
		return
	}
	stack := make([]byte, 64<<10)
	stack = stack[:runtime.Stack(stack, false)]
	c.server.ErrorLog.Printf("panic serving %v: %v\n%s", c.remote, v, stack)
}

// send writes to the caller.
func (c *conn) send(pieces ...[]byte) error {
	c.turn(writing)
	defer c.turn(busy)
	for _, p := range pieces {
		if len(p) == 0 {
			continue
		}
		if _, err := c.Conn.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// replayed is a connection that is handed over with what was read from it.
type replayed struct {
	net.Conn
	read []byte
}

// Read implements io.Reader.
func (r *replayed) Read(p []byte) (int, error) {
	if len(r.read) == 0 {
		return r.Conn.Read(p)
	}
	n := copy(p, r.read)
	r.read = r.read[n:]
	return n, nil
}

// NetConn returns the connection below.
func (r *replayed) NetConn() net.Conn { return r.Conn }

// CloseWrite ends our side of the connection.
func (r *replayed) CloseWrite() error {
	if w, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
