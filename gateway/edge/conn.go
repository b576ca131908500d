package edge

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// writePiece is how much is written under one deadline: a caller who takes less
// than this in the time allowed is not reading, however often it takes a byte.
const writePiece = 16 << 10

// Conn is a caller's connection. Its writes end with an error when the caller
// takes less than 16 KiB in the time allowed for it (a slow read), and it gives its
// place back to its [Caps] when it is closed, once.
type Conn struct {
	net.Conn // below any PROXY header
	read     func([]byte) (int, error)
	remote   net.Addr
	caps     *Caps
	who      netip.Prefix
	stall    time.Duration
	once     sync.Once
	requests atomic.Int64
	resets   resets

	mu    sync.Mutex
	armed time.Time // the write deadline that the kernel's poller has
	asked time.Time // the one that somebody asked for
}

// Of returns the Conn below TLS and whatever else is around it, or nil.
func Of(c net.Conn) *Conn {
	for c != nil {
		if k, ok := c.(*Conn); ok {
			return k
		}
		w, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = w.NetConn()
	}
	return nil
}

// SyscallConn implements syscall.Conn.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.New("edge: the connection has no descriptor")
	}
	return s.SyscallConn()
}

// RemoteAddr returns the caller's address: the one that a PROXY header named.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	if c.read != nil {
		return c.read(p)
	}
	return c.Conn.Read(p)
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (n int, err error) {
	for {
		piece := p[n:min(len(p), n+writePiece)]
		if err := c.arm(); err != nil {
			return n, err
		}
		m, err := c.Conn.Write(piece)
		if n += m; err != nil || n == len(p) {
			return n, err
		}
	}
}

// arm gives the next write its time. The deadline is moved only when half of it is
// gone, which makes it one reading of the clock for most writes.
func (c *Conn) arm() error {
	if c.stall <= 0 {
		return nil
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.armed.Sub(now); left >= c.stall/2 && left <= c.stall || !c.asked.IsZero() && c.asked.Before(now.Add(c.stall/2)) {
		return nil // the one asked for is in force
	}
	c.armed = now.Add(c.stall)
	if !c.asked.IsZero() && c.asked.Before(c.armed) {
		c.armed = c.asked
	}
	return c.Conn.SetWriteDeadline(c.armed)
}

// SetWriteDeadline implements net.Conn. A later deadline than the stall allows
// stays asked for; no write lasts that long.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked, c.armed = t, t
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// CloseWrite ends the sending half.
func (c *Conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.once.Do(func() {
		if c.caps != nil {
			c.caps.leave(c.who)
		}
	})
	return c.Conn.Close()
}
