// Package gate protects any piece of work in a Go program from more of it than
// can be done. It is policy made live: a lock, a timer and the goroutines that
// wait, around the machine of policy/boundary, which decides everything.
//
//	g, err := gate.New(gate.Config{Classes: []gate.Class{{
//		Name: "checkout",
//		Pool: gate.Pool{Slots: 40, Latency: 300 * time.Millisecond},
//	}}})
//	...
//	err = g.Do(ctx, gate.Request{}, func(ctx context.Context) error {
//		return work(ctx) // runs only when there is a slot and time enough
//	})
//	if r, ok := errors.AsType[*gate.Refusal](err); ok {
//		// r.Reason says why, r.RetryAfter when to come back
//	}
//
// A [Permit] is the right to run: a value with one owner, finished exactly
// once. Do finishes it whatever happens, return, error, panic or Goexit; with
// Acquire that is the caller's duty:
//
//	p, err := g.Acquire(ctx, gate.Request{Tenant: "acme"})
//	if err != nil {
//		return err
//	}
//	defer p.Done()
//
// Everything here may be used by many goroutines at once. An admission that
// finds a slot costs about 100 ns, clock reads aside, and allocates nothing.
// Requests that wait cost their own goroutine, blocked, and nothing that
// outlives it. For net/http see gate/httpgate.
package gate
