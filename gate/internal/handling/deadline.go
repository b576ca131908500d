package handling

import (
	"context"
	"sync"
	"time"
)

// deadline is the parent of a handler's context. It ends when the gate, which
// keeps the time for everybody with one timer, says that the request is overdue,
// and when its caller has gone. Unlike a deadline of package context it can be
// lifted, which is what the first byte of an answer does; a lifted one reports
// the deadline that the server's own context has.
//
// It has exactly one child, made by newDeadline, so that whatever a handler
// derives from its context hangs on a context of the standard library.
type deadline struct {
	context.Context // the server's, for its values
	at              time.Time

	mu     sync.Mutex
	lifted bool
	err    error
	done   chan struct{}
	child  func()
}

func newDeadline(server context.Context, at time.Time) (*deadline, context.Context, context.CancelFunc) {
	d := &deadline{Context: server, at: at, done: make(chan struct{})}
	ctx, cancel := context.WithCancel(d)
	return d, ctx, cancel
}

// end ends the context with the given error, unless it has ended already.
func (d *deadline) end(err error) {
	d.mu.Lock()
	ends := d.err == nil
	if ends {
		d.err = err
		close(d.done)
	}
	d.mu.Unlock()
	if ends {
		d.child()
	}
}

func (d *deadline) lift() {
	d.mu.Lock()
	d.lifted = true
	d.mu.Unlock()
}

func (d *deadline) Deadline() (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lifted {
		return d.Context.Deadline()
	}
	return d.at, true
}

func (d *deadline) Done() <-chan struct{} { return d.done }

func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// AfterFunc lets package context register the child without a goroutine that
// waits for Done.
func (d *deadline) AfterFunc(f func()) (stop func() bool) {
	d.child = f
	return func() bool { return true }
}
