package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// succeedTime bounds how long a new process may take to be ready.
const succeedTime = 30 * time.Second

// Succeed starts the program anew, the file that its path names by now, with the
// same arguments, and hands it the listeners. Once the new process serves, this
// one accepts nothing more, finishes what it has, lets callers know with each
// answer that its connections end (Connection: close, GOAWAY), and Serve returns.
// No connection is refused and no request lost. If the new process does not come
// up within 30 s, the error says so and nothing has changed.
func (g *Gateway) Succeed(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			g.log.Warn("no new process serves; this one goes on", "why", err)
		}
	}()
	in := g.in.Load()
	switch {
	case in == nil:
		return errors.New("nothing is served yet")
	case g.opts.Listener != nil || g.opts.AdminListener != nil:
		return errors.New("the listeners were brought by the program, which alone can hand them on")
	case !g.succeeding.CompareAndSwap(false, true):
		return errors.New("a new process is being started already")
	}
	defer g.succeeding.Store(false)
	if g.succeeded.Load() || g.seen.Draining.Load() {
		return errors.New("this process is ending already")
	}
	path, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, succeedTime)
	defer cancel()
	// From the moment at which the other asks what this process knows until it is
	// there, nobody changes any of it: what an operator does waits, and finds the
	// new process, or this one as it was.
	asked := false
	defer func() {
		if asked {
			g.reloading.Unlock()
		}
	}()
	pid, err := in.sockets.Succeed(ctx, path, os.Args[1:], func() []byte {
		g.reloading.Lock()
		asked = true
		return g.bequeath()
	})
	if err != nil {
		return fmt.Errorf("the new process did not come up: %w", err)
	}
	if !asked {
		g.reloading.Lock()
		asked = true
	}
	g.wound = true // what would be changed here would change nothing
	g.succeeded.Store(true)
	g.log.Info("a new process serves; this one finishes what it has", "pid", pid, "limit", g.opts.DrainLimit)
	close(g.successor)
	return nil
}

// lingerEvery is how often a process that was succeeded looks whether it is done.
const lingerEvery = 20 * time.Millisecond

// leave ends this process's part after another has taken over. A connection is
// closed after its next answer, not at once: its caller may be sending a request
// at this very moment. One that says nothing is closed at the end.
func (g *Gateway) leave(ctx context.Context, in *entrances, server *http.Server) {
	in.leave()
	g.fronts.accepting.Wait() // who was accepted last is counted by now
	ctx, cancel := context.WithTimeout(ctx, g.opts.DrainLimit)
	defer cancel()
	tick := time.NewTicker(lingerEvery)
	defer tick.Stop()
	for g.caps.Open() > 0 && ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	if deadline, ok := ctx.Deadline(); ok && ctx.Err() == nil {
		g.drain(time.Until(deadline)) // work whose callers are gone ends in its own time
	}
	last, stop := context.WithTimeout(context.Background(), closeTime)
	defer stop()
	server.Shutdown(last)
	g.fronts.shutdown(last)
	g.log.Info("left")
}
