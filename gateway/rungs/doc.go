// Package rungs is the gateway's cheaper answers: what an HTTP caller is told when
// the upstream did not answer in time, failed, or could not be asked.
//
// A [Ladder] is made from the configuration, with its files read and its bounds
// fixed, before anything is slow. For a request that was not served, [Ladder.Find]
// returns the best rung's answer, and Write writes it, tagged with rung and reason.
//
//	cachecontrol  the header Cache-Control, read as RFC 9111 section 4.2.1 wants it
//	fresh         how old an answer is, how long it is fresh, how long it may be used after
//	storable      which answers may be kept at all
//	key           which requests may share one
//	cache         the rung cache: earlier answers, kept while they pass by
//	answer        an earlier answer, written again: conditional, partial, HEAD
//	static        the rung static: a fixed answer
//	ladder        their order
//
// # Whose answer is given to whom
//
// The rules of RFC 9111 for a shared cache hold, with one more that is stricter: a
// request's key holds every header but those that are known not to decide what the
// answer is ([Unkeyed]). An earlier answer is given only to a request that has the
// same credentials, tenant, cookies, and the same anything else that a service might
// go by without saying so in Vary. A header that a hostile caller makes up changes
// the key, and with it who can be given what came of it: that caller.
package rungs
