package load

import (
	"bufio"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A connection's states. idle becomes busy when a sender claims it, dead when
// its reader sees it close; whoever changes it has it. busy becomes idle when
// the answer has been read.
const (
	idle = int32(iota)
	busy
	dead
)

// conn is one connection of a pool.
type conn struct {
	net.Conn
	pool  *pool
	r     *bufio.Reader
	state atomic.Int32
	shot  *shot // on the way, while busy

	writing sync.Mutex // held from claim until the request is written
	large   bool       // the request is being written by a goroutine of its own
	failed  error      // of the last writing
}

// claim makes an idle connection the shot's, unless it has died.
func (c *conn) claim(s *shot) bool {
	c.writing.Lock()
	c.shot, c.large = s, len(s.wire) > directWrite
	if c.state.CompareAndSwap(idle, busy) {
		return true
	}
	c.writing.Unlock()
	return false
}

// write sends the request of the shot that has claimed the connection.
func (c *conn) write(s *shot) {
	if c.large {
		c.pool.running.Go(func() { c.writeNow(s) })
	} else {
		c.writeNow(s)
	}
}

func (c *conn) writeNow(s *shot) {
	defer c.writing.Unlock()
	s.departed(time.Now())
	_ = c.SetDeadline(c.pool.g.giveUp(s)) // fails on a closed connection, as Write then does
	if _, c.failed = c.Write(s.wire); c.failed != nil {
		c.Close() // the reader sees it, and has the shot from here on
	}
}

// read is the connection's goroutine: it reads answers until the connection
// ends. It owns r, and the shot once the connection is busy.
func (c *conn) read() {
	defer c.pool.remove(c)
	g := c.pool.g
	resp := response{keep: g.Keep}
	for {
		_, err := c.r.Peek(1)
		if c.state.CompareAndSwap(idle, dead) {
			return // closed, or spoke without being asked
		}
		if err == nil {
			err = readResponse(c.r, g.Method, &resp)
		}
		s := c.shot
		reuse := err == nil && resp.reuse && c.r.Buffered() == 0
		if c.large && !c.writing.TryLock() {
			c.Close() // answered before it was read: no use in writing the rest
			reuse = false
			c.writing.Lock()
		} else if !c.large {
			c.writing.Lock() // a writer that has not yet come back from the kernel
		}
		if err != nil && c.failed != nil {
			err = c.failed // the cause, where reading fails because writing did
		}
		c.writing.Unlock()
		if !reuse {
			c.Close()
			g.answered(s, &resp, err)
			return
		}
		c.shot = nil
		_ = c.SetDeadline(time.Time{})
		c.state.Store(idle)
		c.pool.put(c)
		g.answered(s, &resp, nil)
	}
}
