package steer

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// Agent answers HAProxy's agent-check: each connection is told one line and closed.
//
//	up ready 73%     the copy can take that part of its usual share
//	drain            it takes nothing new, and finishes what it has
//
// "up ready" takes back a drain that HAProxy remembers from the process before. What
// HAProxy sends (agent-send) is not read.
type Agent struct {
	Board *Board
	// Draining reports that the copy is about to end, or calls itself not ready.
	Draining func() bool
}

// A connection is written to for so long and no longer, and so many are open at once: one
// more is closed unanswered, which HAProxy takes for no news.
const (
	agentTime = time.Second
	agentMost = 64
)

// Serve answers until the listener is closed, and returns its error.
func (a *Agent) Serve(l net.Listener) error {
	var open sync.WaitGroup
	defer open.Wait()
	places := make(chan struct{}, agentMost)
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		select {
		case places <- struct{}{}:
			open.Go(func() {
				defer func() { <-places }()
				defer c.Close()
				c.SetDeadline(time.Now().Add(agentTime))
				c.Write([]byte(a.line()))
			})
		default:
			c.Close()
		}
	}
}

func (a *Agent) line() string {
	if a.Draining() {
		return "drain\n"
	}
	return fmt.Sprintf("up ready %d%%\n", fullest(a.Board.Look()).Weight())
}
