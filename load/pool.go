package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// pool is the carrier for HTTP/1.1 in the clear: connections of which each has
// one request on the way at most. A goroutine per connection reads its answers;
// whoever sends writes.
type pool struct {
	g       *generator
	address string
	opened  atomic.Int64
	dialled atomic.Int64  // attempts that found no connection
	wanted  chan struct{} // a spare connection is wanted
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc

	mu     sync.Mutex
	idle   []*conn // the most recently used last, and taken first
	conns  map[*conn]struct{}
	closed bool
}

const (
	dialTimeout = 5 * time.Second
	growers     = 4
	// directWrite is up to how many bytes the schedule's thread writes itself:
	// what fits into the send buffer of an idle connection cannot block.
	directWrite = 16 << 10
)

var errClosed = errors.New("the run was stopped")

func newPool(ctx context.Context, g *generator) (*pool, error) {
	p := &pool{g: g, address: g.templates.target.address(), wanted: make(chan struct{}, growers), conns: map[*conn]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for range g.Warm {
		c, err := p.dial(ctx)
		if err != nil {
			p.close()
			return nil, fmt.Errorf("connect to %s: %w", p.address, err)
		}
		p.put(c)
	}
	for range growers {
		p.running.Go(p.grow)
	}
	return p, nil
}

func (p *pool) prepare(s *shot, t *templates) { s.wire = t.wire(s.wire) }

func (p *pool) send(s *shot) {
	if c := p.take(s); c != nil {
		c.write(s)
		return
	}
	p.running.Go(func() {
		p.dialled.Add(1)
		s.departed(time.Now())
		ctx, cancel := context.WithDeadline(p.ctx, p.g.giveUp(s))
		defer cancel()
		c, err := p.dial(ctx)
		if err != nil {
			p.g.answered(s, nil, err)
			return
		}
		if !c.claim(s) {
			p.g.answered(s, nil, io.EOF)
			return
		}
		c.write(s)
	})
}

// take returns an idle connection that is now the shot's, or nil.
func (p *pool) take(s *shot) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) <= p.g.Warm/2 {
		select {
		case p.wanted <- struct{}{}:
		default: // all growers know
		}
	}
	for len(p.idle) > 0 {
		last := len(p.idle) - 1
		c := p.idle[last]
		p.idle = p.idle[:last]
		if c.claim(s) {
			return c
		}
	}
	return nil
}

func (p *pool) put(c *conn) {
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
}

// grow opens connections before they are needed.
func (p *pool) grow() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.wanted:
		}
		for p.short() {
			c, err := p.dial(p.ctx)
			if err != nil {
				break // the next request that needs one will say why
			}
			p.put(c)
		}
	}
}

func (p *pool) short() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle) < p.g.Warm && len(p.conns) < p.g.MaxInFlight+p.g.Warm && !p.closed
}

// dial opens a connection and starts its reader. It is idle, but not in the
// pool.
func (p *pool) dial(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", p.address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc, pool: p, r: bufio.NewReaderSize(nc, 4<<10)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		nc.Close()
		return nil, errClosed
	}
	p.conns[c] = struct{}{}
	p.opened.Add(1)
	p.running.Go(c.read)
	return c, nil
}

func (p *pool) remove(c *conn) {
	c.Close()
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
}

func (p *pool) sever() {
	p.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.conns {
		c.Close()
	}
}

func (p *pool) close() {
	p.sever()
	p.running.Wait()
}
