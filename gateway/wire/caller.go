package wire

import (
	"context"
	"slices"
	"sync"
)

// caller is the context of one request: it ends when the caller hangs up, or when
// the request has been answered. It makes nothing until somebody asks.
type caller struct {
	context.Context // the connection's, for its values

	mu    sync.Mutex
	err   error
	done  chan struct{}
	after []*func() // mostly one
}

// Err implements context.Context.
func (c *caller) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Done implements context.Context.
func (c *caller) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
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
	if c.err != nil {
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
	if c.err != nil {
		return
	}
	c.err = context.Canceled
	if c.done != nil {
		close(c.done)
	}
	for _, f := range c.after {
		go (*f)()
	}
	c.after = nil
}
