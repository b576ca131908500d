// Package call decides how one dependency is called: how long an attempt may
// take, whether a failed one is tried again and when, whether a second is sent
// beside a slow one, and when it is better not to call at all.
//
// A [Dependency] is what all calls to one dependency share: budgets, breaker,
// what was measured. A [Call] is one call's way. A driver reports facts, each with
// the instant at which it saw it, and does what the [Step] it gets back says:
//
//	Begin     a call is to be made                -> Send 1, or GiveUp
//	Sent      attempt n has left                  (its budget is spent)
//	Ended     attempt n has an outcome            -> Answer n, Pause, Send, or GiveUp
//	Passed    the instant Step.Next has come      -> Send (retry, hedge), Cancel, GiveUp
//	Left      whoever wanted the answer has gone  -> GiveUp
//
// Every call ends with exactly one Answer or GiveUp. The core never waits: a pause
// before a retry is a Step whose Next lies ahead.
//
// # Attempts and tries
//
// A try is an attempt and perhaps a hedge beside it; both share the try's limit.
// The retry is the next try. Attempts are numbered from 1 over the whole call, and
// all of one call go under one idempotency key. What an attempt that was cancelled
// answers after all is nobody's: Ended says so with a Step that does Nothing.
//
// Not safe for concurrent use: a live driver holds one lock for each Dependency.
package call
