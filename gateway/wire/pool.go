package wire

import (
	"context"
	"net"
	"sync"
	"time"
)

// Pool keeps the connections to one upstream. Its fields are set before it is
// used; it is safe for concurrent use.
type Pool struct {
	// Dial makes a connection.
	Dial func(context.Context) (net.Conn, error)
	// IdleMost and IdleFor bound how many connections are kept open although
	// nothing runs on them, and for how long.
	IdleMost int
	IdleFor  time.Duration

	mu     sync.Mutex
	idle   []*Conn // the one used last is used next
	closed bool
	sweep  *time.Timer
}

// Idle returns a connection that is open and on which nothing runs, or nil.
// Those that the upstream has closed meanwhile are thrown away.
func (p *Pool) Idle() *Conn {
	for {
		p.mu.Lock()
		n := len(p.idle) - 1
		if n < 0 {
			p.mu.Unlock()
			return nil
		}
		c := p.idle[n]
		p.idle[n] = nil
		p.idle = p.idle[:n]
		p.mu.Unlock()
		if c.alive() {
			c.reset()
			return c
		}
		c.Conn.Close()
	}
}

// Connect makes a new connection.
func (p *Pool) Connect(ctx context.Context) (*Conn, error) {
	c, err := p.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return newConn(c, p), nil
}

// put keeps a connection for another call, or closes it.
func (p *Pool) put(c *Conn) {
	c.rested = time.Now()
	p.mu.Lock()
	if p.closed || len(p.idle) >= p.IdleMost {
		p.mu.Unlock()
		c.Conn.Close()
		return
	}
	p.idle = append(p.idle, c)
	if p.sweep == nil {
		p.sweep = time.AfterFunc(p.IdleFor, p.closeOld)
	}
	p.mu.Unlock()
}

// closeOld closes what has been idle for too long: those at the front.
func (p *Pool) closeOld() {
	now := time.Now()
	p.mu.Lock()
	n := 0
	for n < len(p.idle) && now.Sub(p.idle[n].rested) >= p.IdleFor {
		n++
	}
	old := append([]*Conn(nil), p.idle[:n]...)
	p.idle = append(p.idle[:0], p.idle[n:]...)
	clear(p.idle[len(p.idle):cap(p.idle)])
	p.sweep = nil
	if len(p.idle) > 0 && !p.closed {
		p.sweep = time.AfterFunc(p.IdleFor-now.Sub(p.idle[0].rested), p.closeOld)
	}
	p.mu.Unlock()
	for _, c := range old {
		c.Conn.Close()
	}
}

// Close closes what is idle now and whatever else when it becomes so.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.sweep != nil {
		p.sweep.Stop()
	}
	for _, c := range p.idle {
		c.Conn.Close()
	}
	p.idle = nil
}
