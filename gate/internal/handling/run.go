package handling

import (
	"context"
	"runtime"
	"sync"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Run is one admitted request on its way through a handler. Two goroutines share
// it: the handler's, which owns the answer from its first byte on, and the
// server's, which owns it until then if the deadline passes.
type Run struct {
	permit   gate.Permit
	deadline *deadline
	cancel   context.CancelFunc
	ended    chan Ending

	mu     sync.Mutex
	begun  bool // the answer is the handler's
	closed bool // taken from it before it had begun: it answers nobody
	gone   bool // the caller has hung up: no deadline is left to meet
}

// Ending is how a handler ended.
type Ending struct {
	Value  any  // of its panic
	Broken bool // it did not return: a panic, or runtime.Goexit if there is no value
}

// Resume does on the calling goroutine what the handler did on its own, if that
// was to panic or to exit.
func (e Ending) Resume() {
	switch {
	case e.Value != nil:
		panic(e.Value)
	case e.Broken:
		runtime.Goexit()
	}
}

// New returns the run of the request that the permit is for, and the context of
// its handler: it ends at the permit's deadline unless the answer has begun by
// then, and when parent ends.
func New(parent context.Context, permit gate.Permit) (*Run, context.Context) {
	r := &Run{permit: permit, ended: make(chan Ending, 1)}
	var ctx context.Context
	r.deadline, ctx, r.cancel = newDeadline(parent, permit.Deadline())
	r.deadline.lifted = !permit.Governed()
	return r, ctx
}

// Go runs work on a goroutine of its own. However it ends, an answer that has not
// begun begins then, an empty one too, and must be in time like any other; first,
// if not nil, is called as Begin calls it. Then settle, which finishes the permit.
func (r *Run) Go(work, first func(), settle func(e Ending, inTime bool)) {
	go func() {
		e := Ending{Broken: true} // what stands if work does not return
		defer func() {
			if e.Broken {
				e.Value = recover()
			}
			r.cancel()
			inTime := r.Begin(first)
			settle(e, inTime)
			if inTime {
				r.ended <- e
			}
		}()
		work()
		e.Broken = false
	}()
}

// Wait returns how the handler ended or, if the gate says first that it is
// overdue, the refusal that its caller is to be told instead. In that case the
// answer is the calling goroutine's from now on.
func (r *Run) Wait(overdue <-chan gate.Refusal) (Ending, gate.Refusal) {
	parent := r.deadline.Context
	gone := parent.Done()
	for {
		select {
		case e := <-r.ended:
			return e, gate.Refusal{}
		case refused := <-overdue:
			if r.shut() {
				r.deadline.end(context.DeadlineExceeded)
				return Ending{}, refused
			}
		case <-gone:
			gone = nil
			r.left(parent.Err())
		}
	}
}

// left notes that the caller's context has ended. A deadline of the caller's that
// passes before an answer has begun is the gate's to tell of; once it flows, the
// caller has cut it off.
func (r *Run) left(err error) {
	r.mu.Lock()
	cutOff := r.begun
	hungUp := err == context.Canceled
	r.gone = r.gone || hungUp
	r.mu.Unlock()
	if hungUp || cutOff {
		r.permit.Abandon(reason.CallerGone)
	}
	r.deadline.end(err)
}

// Begin makes the answer the handler's, and reports whether it is: whether it has
// begun before, or begins in time, which lifts the deadline. The first time, first
// is called (if it is not nil) while nobody else can take the answer.
func (r *Run) Begin(first func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun || r.closed {
		return r.begun
	}
	if !r.gone && !r.permit.Answered() {
		r.closed = true // the gate has said so to the server's goroutine
		return false
	}
	r.deadline.lift()
	r.begun = true
	if first != nil {
		first()
	}
	return true
}

// Unless calls f, saying whether the answer has begun, while nobody can take it,
// and returns true; unless it has been taken from the handler.
func (r *Run) Unless(f func(begun bool)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	f(r.begun)
	return true
}

// shut takes the answer from the handler unless it has begun.
func (r *Run) shut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = !r.begun
	return r.closed
}
