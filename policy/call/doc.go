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
// Every call ends with exactly one Answer or GiveUp, by its deadline. The core never
// waits: a pause before a retry is a Step whose Next lies ahead. Facts that come late
// or twice, or are of nobody's attempt, change nothing.
//
// Not safe for concurrent use: a live driver holds one lock for each Dependency. A
// call that is sent and answered takes some 45 ns in all, one that pauses or is hedged
// three times that, and none allocates.
//
// # Attempts and tries
//
// A try is an attempt and perhaps a hedge beside it; both share the try's limit.
// The retry is the next try. Attempts are numbered from 1 over the whole call, and
// all of one call go under one idempotency key. A try fails when all of it has: if
// the first fails while the hedge is in flight the hedge is waited for, and the
// other way round.
//
// The limit of a try is Timeout, and never later than the deadline less Reserve. It
// travels with the attempt, so that a dependency does not work for nobody; what is
// left shrinks from try to try. A retry that could not leave before the deadline is
// not scheduled: the call is given up then, and told why.
//
// # What may be tried again
//
// What surely has not been done may: not sent, or refused as too busy. What may have
// been done may only if doing it twice is doing it once, that is for an idempotent
// request and for one with a key that the dependency honours. The rest is given up as
// unknown where nobody can say. The dependency's own word goes before this table, see
// [Outcome], and cannot make harmless what is not.
//
// # Budgets
//
// Retries multiply load exactly when there is too much of it: three tries in each of
// five layers are 243 calls. So they have a budget over all calls, a share of first
// attempts (Google, "Site Reliability Engineering", ch. 21 and 22, 2016) or a token
// bucket (Brooker, "Fixing retries with token buckets and circuit breakers", 2022).
// It is reserved when a retry is scheduled, spent when the attempt is Sent, and given
// back if it never is.
//
// # Hedges
//
// A second ask after the delay of a high percentile cuts the tail for a few percent of
// load (Dean and Barroso, "The Tail at Scale", CACM 2013) if one attempt in a hundred is
// slow, and doubles the load if all are. Nothing is hedged
//   - that may not be done twice,
//   - over the hedges' own budget,
//   - while the breaker is not closed, or a pushback holds,
//   - while the dependency is slow as a whole: while of about the last 64 firsts more
//     than Hedge.SlowShare, by default a fifth, had not ended when a hedge was due.
//
// A hedge that is not sent changes nothing for what is in flight. The percentile is of
// attempts that were answered, and of firsts that were cut off by their limit or by a
// hedge that won, which it would sink under otherwise. A winner is never cut off, the
// loser always and at once.
//
// # Pushback
//
// What a refusal asks for is obeyed: no retry before it, and none at all if the call
// has not that long. It also holds the retries and hedges of all other calls, until the
// latest instant that any named, and each pauses on top of it; a shorter one shortens
// nothing, an answer to an attempt that left since ends it. First attempts are not
// held, because one tenant's 429 must not be everybody's: when to stop calling is for
// breaker and throttle.
//
// Calls that are refused together come back in turn, at the rate at which the
// dependency was seen to accept in the last second. As a crowd they would be refused
// again until their retries are spent: 1,600 calls at once against 300/s then take 4,300
// attempts instead of under 3,200.
//
// # What an attempt that was cut off teaches
//
// It is taught at the cut, once; what the attempt answers after all is nobody's.
//   - Cut by the try's limit: a failure.
//   - By the call's deadline before that: slow, if it took Breaker.SlowAfter; where there
//     is no rule for slow, a failure if it took as long as 99 of 100 answers do. Else
//     nothing: a caller in a hurry does not open the breaker for all.
//   - By its caller's leaving, or by the other's winning: slow, if it took that long; else
//     nothing.
//
// Our own refusals, and a panic before anything was sent, are reported as Neutral and
// teach nobody anything. A panic after is Broken.
//
// # Breaker and throttle
//
// Both are asked at each send: a call's first, a retry, a hedge. A first that is held
// back is given up as breaker_open, at once; a retry for what its last try came to. See
// [Breaker], and [Throttle] for the share that Google's clients hold back (ch. 21).
package call
