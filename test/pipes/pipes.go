package pipes

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// Listener accepts what is dialed to it.
type Listener struct {
	conns  chan net.Conn
	done   chan struct{}
	close  sync.Once
	dialed atomic.Int64
}

// Listen returns one. It may be used by many goroutines, of one bubble.
func Listen() *Listener { return &Listener{conns: make(chan net.Conn), done: make(chan struct{})} }

// Dial connects to it; for http.Transport.DialContext.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		l.dialed.Add(1)
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Dialed returns how many connections there were.
func (l *Listener) Dialed() int { return int(l.dialed.Load()) }

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.close.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }
