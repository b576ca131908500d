package gateway

import (
	"context"
	"net"
)

// hangup is the context of a request whose body nobody has read: it ends when
// the request's own does, or when the caller hangs up. It watches from the first
// time that somebody asks for its Done, which a gate does only for a request that
// waits. It is for one goroutine; context is for all.
type hangup struct {
	context.Context // the request's own
	hangups         *hangups
	conn            net.Conn
	watched         context.Context // nil: not yet
	gone            context.CancelCauseFunc
	unwatch         func()
}

func newHangup(ctx context.Context, h *hangups, c net.Conn) *hangup {
	return &hangup{Context: ctx, hangups: h, conn: c}
}

// context starts the watch, if it has not begun, and returns what it ends.
func (h *hangup) context() context.Context {
	if h.watched == nil {
		h.watched, h.gone = context.WithCancelCause(h.Context)
		h.unwatch = h.hangups.watch(h.conn, func() { h.gone(errCallerGone) })
	}
	return h.watched
}

// Done implements context.Context.
func (h *hangup) Done() <-chan struct{} { return h.context().Done() }

// Err implements context.Context.
func (h *hangup) Err() error {
	if h.watched != nil {
		return h.watched.Err()
	}
	return h.Context.Err()
}

// stop ends the watch.
func (h *hangup) stop() {
	if h.watched != nil {
		h.unwatch()
		h.gone(nil)
	}
}
