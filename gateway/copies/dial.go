package copies

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// ErrConnections says that a copy has all the connections it may have.
var ErrConnections = errors.New("it has all the connections that it may have; raise connections, or lower the classes' slots")

// DialError says that no connection to a copy could be made. Nothing of a request
// was sent: another copy may be tried.
type DialError struct {
	Upstream, Copy string
	Err            error
}

// Error is one line: which upstream, which copy, and why.
func (e *DialError) Error() string {
	return fmt.Sprintf("upstream %s at %s: %v", e.Upstream, e.Copy, e.Err)
}

// Unwrap returns the cause.
func (e *DialError) Unwrap() error { return e.Err }

// Dial makes a connection to the copy for HTTP/1.1, with TLS if its URL says so. It
// counts until it is closed, and is refused at the cap. The error is a *DialError.
func (c *Copy) Dial(ctx context.Context) (net.Conn, error) { return c.dial(ctx, "http/1.1") }

func (c *Copy) dial(ctx context.Context, protocols ...string) (net.Conn, error) {
	if !c.reserve() {
		c.closeIdle() // another pool may hold what is free
		if !c.reserve() {
			return nil, c.undialed(ErrConnections)
		}
	}
	raw, err := c.connect(ctx)
	if err != nil {
		c.open.Add(-1)
		return nil, err
	}
	counted := &conn{Conn: raw, copy: c}
	if !c.secure {
		return counted, nil
	}
	secured, err := c.handshake(ctx, counted, protocols)
	if err != nil {
		counted.Close()
		return nil, err
	}
	return secured, nil
}

// reserve counts one connection more, if there may be one.
func (c *Copy) reserve() bool {
	most := int64(c.set.cfg.Spread.Connections)
	if n := c.open.Add(1); most <= 0 || n <= most {
		return true
	}
	c.open.Add(-1)
	return false
}

func (c *Copy) undialed(err error) error {
	return &DialError{c.set.cfg.Name, c.Name(), err}
}

// connect makes a connection that nobody counts.
func (c *Copy) connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	d := net.Dialer{KeepAlive: dialKeepAlive}
	if c.network == "unix" {
		raw, err := d.DialContext(ctx, "unix", c.host)
		if err != nil {
			return nil, c.undialed(err)
		}
		return raw, nil
	}
	addresses := *c.addresses.Load()
	if len(addresses) == 0 {
		var err error
		if addresses, err = c.set.lookup(ctx, c.host); err != nil {
			return nil, c.undialed(err)
		}
	}
	raw, err := c.first(ctx, d, addresses)
	if err != nil {
		return nil, c.undialed(err)
	}
	return raw, nil
}

// first connects to the first address that takes it. One that does not answer at
// all leaves the others their part of the time.
func (c *Copy) first(ctx context.Context, d net.Dialer, addresses []netip.Addr) (net.Conn, error) {
	var failed error
	until, _ := ctx.Deadline()
	for i, a := range addresses {
		d.Deadline = time.Now().Add(time.Until(until) / time.Duration(len(addresses)-i))
		raw, err := d.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), c.port))
		if err == nil {
			return raw, nil
		}
		failed = err // the last is as good as the first: all are told by the copy's name
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}

func (c *Copy) handshake(ctx context.Context, raw net.Conn, protocols []string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	secured := tls.Client(raw, c.set.certs.config(c.host, protocols, &c.asked))
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, c.undialed(c.Explain(err))
	}
	return secured, nil
}

// conn is a connection that counts as the copy's until it is closed.
type conn struct {
	net.Conn
	copy *Copy
	once sync.Once
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() { c.copy.open.Add(-1) })
	return c.Conn.Close()
}

// CloseWrite passes on that no more will be sent.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

// SyscallConn lets pools ask the kernel whether the connection is still open.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.Conn.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// ReadFrom lets the kernel copy where it can.
func (c *conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }
