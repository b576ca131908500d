package gate

import (
	"context"
	"sync"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

// waiter is a goroutine that waits for one decision. The decision is sent
// exactly once, under the gate's lock, into a channel that has room for it: it
// can be neither lost nor late, whether or not the waiter listens yet.
type waiter struct {
	decision chan boundary.Effect
}

var waiters = sync.Pool{New: func() any {
	return &waiter{decision: make(chan boundary.Effect, 1)}
}}

func newWaiter() *waiter { return waiters.Get().(*waiter) }

// wait blocks until the request is decided or its caller is gone.
func (g *Gate) wait(ctx context.Context, class int, v boundary.Verdict, w *waiter) (Permit, Refusal) {
	select {
	case d := <-w.decision:
		waiters.Put(w)
		return g.decided(class, v, d)
	case <-ctx.Done():
	}
	return g.leave(class, v, w)
}

func (g *Gate) decided(class int, v boundary.Verdict, d boundary.Effect) (Permit, Refusal) {
	if d.Kind == boundary.Run {
		return Permit{g, v.Ticket, v.Deadline}, Refusal{}
	}
	return Permit{}, g.refusal(class, d.Reason, d.RetryAfter)
}

// leave takes a caller whose context has ended out of the queue. If the
// decision was there first, the caller is still gone: a grant is given back,
// by the machine, in its one place for that; a refusal stands.
func (g *Gate) leave(class int, v boundary.Verdict, w *waiter) (Permit, Refusal) {
	now := g.Now()
	g.mu.Lock()
	g.stand(v.Ticket) // whatever is decided now, nobody is there to be told
	delete(g.released, v.Ticket)
	g.machine.Leave(now, v.Ticket, &g.out)
	g.settle(now, boundary.Left, class, "", v.Ticket, boundary.Verdict{})

	// Decisions are sent under the lock to whoever is seated, so one that is
	// not in the channel by now will never be.
	select {
	case d := <-w.decision:
		waiters.Put(w)
		if d.Kind != boundary.Run {
			return g.decided(class, v, d)
		}
	default:
		waiters.Put(w)
	}
	return Permit{}, g.refusal(class, reason.CallerGone, 0)
}
