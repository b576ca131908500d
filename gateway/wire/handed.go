package wire

import (
	"net"
	"sync"
)

// Handed is the listener of the server that takes over what is not plain: its
// Accept returns the connections that are handed over. Close closes the listener
// below as well, and with that ends both servers.
type Handed struct {
	net.Listener
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewHanded returns the listener for what is accepted from l and not plain.
func NewHanded(l net.Listener) *Handed {
	return &Handed{Listener: l, conns: make(chan net.Conn), done: make(chan struct{})}
}

// HandOver has Accept return the connection. It is closed if nobody accepts any
// more.
func (h *Handed) HandOver(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.done:
		c.Close()
	}
}

// Accept implements net.Listener.
func (h *Handed) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *Handed) Close() error {
	h.once.Do(func() { close(h.done) })
	return h.Listener.Close()
}
