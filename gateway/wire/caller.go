package wire

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// caller is the context of one request: it ends when the caller hangs up, or when
// the request has been answered. It makes nothing until somebody asks.
type caller struct {
	context.Context // the connection's, for its values

	ended atomic.Bool

	mu    sync.Mutex // of all but reading ended
	done  chan struct{}
	after []*func() // mostly one
}

// Err implements context.Context.
func (c *caller) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return nil
}

// Done implements context.Context.
func (c *caller) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.ended.Load() {
			close(c.done)
		}
	}
	return c.done
}

// AfterFunc is what package context looks for, so that a context made of this one
// costs no goroutine.
func (c *caller) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended.Load() {
		go f()
		return func() bool { return false }
	}
	c.after = append(c.after, &f)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.after, &f)
		if i < 0 {
			return false
		}
		c.after = slices.Delete(c.after, i, i+1)
		return true
	}
}

// cancel ends the context.
func (c *caller) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended.Swap(true) {
		return
	}
	if c.done != nil {
		close(c.done)
	}
	for _, f := range c.after {
		go (*f)()
	}
	c.after = nil
}
