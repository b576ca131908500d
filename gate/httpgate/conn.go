package httpgate

import (
	"crypto/tls"
	"net"
	"sync"
)

// hold returns the connection such that closing it calls done, once. The two
// kinds that net/http hands out keep their methods (CloseWrite, SyscallConn,
// ReadFrom, ConnectionState); any other keeps those of net.Conn.
func hold(conn net.Conn, done func()) net.Conn {
	done = sync.OnceFunc(done)
	switch c := conn.(type) {
	case *net.TCPConn:
		return &tcpConn{c, done}
	case *tls.Conn:
		return &tlsConn{c, done}
	}
	return &anyConn{conn, done}
}

type (
	tcpConn struct {
		*net.TCPConn
		done func()
	}
	tlsConn struct {
		*tls.Conn
		done func()
	}
	anyConn struct {
		net.Conn
		done func()
	}
)

func (c *tcpConn) Close() error { defer c.done(); return c.TCPConn.Close() }
func (c *tlsConn) Close() error { defer c.done(); return c.Conn.Close() }
func (c *anyConn) Close() error { defer c.done(); return c.Conn.Close() }
