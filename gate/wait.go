package gate

import (
	"context"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// waiter is a goroutine that waits for one decision. The decision is sent
// exactly once, under the gate's lock, into a channel that has room for it: it
// can be neither lost nor late, whether or not the waiter listens yet.
type waiter struct {
	decision chan boundary.Effect
	res      *reservation // of a request under quotas, once it has been asked for
}

func newWaiter() any { return &waiter{decision: make(chan boundary.Effect, 1)} }

// wait blocks until the request is decided or its caller is gone.
func (g *Gate) wait(ctx context.Context, class int, v boundary.Verdict, w *waiter) (Permit, Refusal) {
	select {
	case d := <-w.decision:
		if d.Kind == boundary.Run && ctx.Err() != nil {
			// Both at once, or the caller had gone before it was granted
			// anything and this goroutine has just not noticed. What nobody
			// waits for is not run.
			w.decision <- d
			break
		}
		p, refused := g.decided(class, v, d, w)
		g.rest(w)
		return p, refused
	case <-ctx.Done():
	}
	now := g.Now()
	g.mu.Lock()
	return g.leave(now, class, v, w)
}

func (g *Gate) decided(class int, v boundary.Verdict, d boundary.Effect, w *waiter) (Permit, Refusal) {
	if d.Kind == boundary.Run {
		return Permit{g, v.Ticket, v.Deadline, g.Now(), w.res}, Refusal{}
	}
	return Permit{}, g.refusal(class, d.Reason, d.RetryAfter)
}

// leave takes a caller whose context has ended out of the queue. It takes mu
// over and gives it back. If the request was refused before, or is at this very
// instant because its deadline is the context's, that stands. If it was granted
// a slot, the caller is gone all the same: the machine takes the grant back, in
// its one place for that.
func (g *Gate) leave(now unit.Instant, class int, v boundary.Verdict, w *waiter) (Permit, Refusal) {
	g.machine.Leave(now, v.Ticket, &g.out)
	g.carryOut(boundary.Event{At: now, Kind: boundary.Left, Class: class, Ticket: v.Ticket})
	g.stand(v.Ticket)
	delete(g.released, v.Ticket)
	unused := w != nil && w.res != nil && w.res.granted // else whoever hears that it is finds nobody
	g.unlock()

	if w != nil {
		if unused {
			w.res.drop("its caller left")
		}
		defer g.rest(w)
		// Decisions are sent under the lock to whoever is seated, so one that
		// is not in the channel by now will never be.
		select {
		case d := <-w.decision:
			if d.Kind == boundary.Refuse {
				return g.decided(class, v, d, w)
			}
		default:
		}
	}
	return Permit{}, g.refusal(class, reason.CallerGone, 0)
}

// rest has a waiter wait for somebody else.
func (g *Gate) rest(w *waiter) {
	w.res = nil
	g.waiters.Put(w)
}
