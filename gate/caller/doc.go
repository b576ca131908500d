// Package caller makes calls to a dependency that may be slow, busy or gone. It is
// policy/call made live: the clock, the lock, the timers and the contexts around
// the machine that decides about deadline, retries, hedges, breaker and throttle.
//
//	prices, err := caller.New(call.Policy{
//		Timeout: 25 * time.Millisecond, // of each try
//		Retries: 1,
//		Budget:  call.Budget{Percent: 10, Floor: 3},
//	})
//	...
//	price, err := caller.Do(ctx, prices, caller.Request{Idempotent: true},
//		func(ctx context.Context, a caller.Attempt) (Price, error) {
//			return fetch(ctx, sku) // ctx ends at the attempt's limit
//		})
//	if f, ok := errors.AsType[*caller.Failure](err); ok {
//		// f.Reason says why, f.RetryAfter when to come back
//	}
//
// One [Caller] stands for one dependency: what it learns of one call (the breaker,
// the budgets, how long answers take) holds for the next. Everything here may be
// used by many goroutines at once. For net/http see gate/httpgate's Transport.
//
// # What the function does
//
// It makes one attempt and obeys its context, which ends at the attempt's limit,
// when the caller leaves, and when another attempt has answered. It runs on the
// caller's goroutine, again for each retry, and [Do] returns only after it has: a
// function that ignores its context is not abandoned, it is waited for. Only with a
// hedge does it run twice at once: the attempt beside a slow one has a goroutine of
// its own, and may still be on its way out when Do has returned. What a loser
// returns is closed if it is an io.Closer.
//
// How its error becomes an outcome is up to the classifier ([DefaultOutcome] unless
// [Classify] says otherwise); [Refused], [Unsent], [Broken], [Fault] and [Neutral]
// wrap an error whose outcome the function knows better. A call that is not
// idempotent and has no key is repeated only where it surely did not run.
//
// # Panics
//
// A panic passes through Do on the caller's goroutine with its own stack. One of a
// hedge beside it is raised again there as a [*Panic], which has that stack. If the
// call has been answered by then nobody is left to see it: it is handed to
// [OnPanic], and logged where there is none. The call ends neutrally for the
// dependency in each case: no probe, budget or context stays taken.
//
// # Answers that stream
//
// [Hold] returns an answer whose context lives on until [Held.Release], for a body
// that is still to be read; from then on only the caller's own context ends it.
// Whoever makes attempts without blocking, a proxy for example, drives a [Call]
// with what happens to them.
//
// # Cost
//
// A call that no limit of the policy's ends earlier than its caller's context, with
// no hedge armed, allocates nothing: its context is passed on as it is. A limit costs
// one object for each attempt, which is context and timer in one; its channel is
// made and its timer set only if somebody looks. With a hedge armed the whole call is
// one object, and its timer comes from a pool.
package caller
