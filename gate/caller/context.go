package caller

import (
	"context"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// attemptContext is an attempt's context: its caller's, ended earlier at a limit or by
// a cancel. It does nothing until somebody looks: the channel, the timer and the watch
// on the parent are made by the first call to Done. It is never used twice, for nobody
// knows who still holds it.
type attemptContext struct {
	parent context.Context
	caller *Caller
	limit  unit.Instant
	// timed: it ends itself at the limit. Else whoever holds the alarm ends it.
	timed bool

	mu     sync.Mutex
	err    error
	lifted bool // answered in time: the limit no longer ends it
	done   chan struct{}
	timer  *time.Timer
	unhook func() bool // from the parent
	hooks  []*hook
}

// hook is what is to run when the context ends.
type hook struct{ f func() }

// Deadline implements context.Context.
func (x *attemptContext) Deadline() (time.Time, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.limit == unit.Never || x.lifted {
		return x.parent.Deadline()
	}
	return x.caller.time(x.limit), true
}

// Value implements context.Context.
func (x *attemptContext) Value(key any) any { return x.parent.Value(key) }

// Done implements context.Context.
func (x *attemptContext) Done() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.watch()
	return x.done
}

// Err implements context.Context. It looks for itself: what has not been watched has
// ended all the same.
func (x *attemptContext) Err() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err != nil {
		return x.err
	}
	if err := x.parent.Err(); err != nil {
		x.finish(err)
	} else if x.timed && !x.lifted && x.limit <= x.caller.Now() {
		x.finish(context.DeadlineExceeded)
	}
	return x.err
}

// AfterFunc runs f on a goroutine of its own once the context has ended, unless stop
// is called before. Contexts made from this one register with it, which spares each
// a goroutine.
func (x *attemptContext) AfterFunc(f func()) (stop func() bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.watch()
	if x.err != nil {
		go f()
		return func() bool { return false }
	}
	h := &hook{f}
	x.hooks = append(x.hooks, h)
	return func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		for i := range x.hooks {
			if x.hooks[i] == h {
				last := len(x.hooks) - 1
				x.hooks[i], x.hooks[last] = x.hooks[last], nil
				x.hooks = x.hooks[:last]
				return true
			}
		}
		return false
	}
}

// watch makes the channel, and has it closed in time. The caller holds mu.
func (x *attemptContext) watch() {
	if x.done != nil {
		return
	}
	x.done = make(chan struct{})
	if x.err != nil {
		close(x.done)
		return
	}
	if x.timed && !x.lifted && x.limit != unit.Never {
		x.timer = time.AfterFunc(max(x.limit.Sub(x.caller.Now()), 0), x.expire)
	}
	if x.parent.Done() != nil {
		x.unhook = context.AfterFunc(x.parent, func() { x.end(x.parent.Err()) })
	}
}

func (x *attemptContext) expire() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.lifted {
		x.finish(context.DeadlineExceeded)
	}
}

// end ends the context, unless it has.
func (x *attemptContext) end(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.finish(err)
}

// finish is end for who holds mu.
func (x *attemptContext) finish(err error) {
	if x.err != nil {
		return
	}
	x.err = err
	if x.done != nil {
		close(x.done)
	}
	if x.timer != nil {
		x.timer.Stop()
	}
	if x.unhook != nil {
		x.unhook()
	}
	for _, h := range x.hooks {
		go h.f()
	}
	x.hooks = nil
}

// lift lets the context live on beyond its limit, which has been met.
func (x *attemptContext) lift() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lifted = true
	if x.timer != nil {
		x.timer.Stop()
	}
}
