// Package trust knows who a caller is, and what it may claim.
//
// Everything a request says of itself is a claim: its class, its tenant, how
// important it is, how long it may take, which try it is, and where it comes
// from. A claim costs nothing to make, so that under overload whoever lies is
// served first, unless somebody checks. This package checks:
//
//	address      where it comes from: the connection, and what proxies that
//	             are known say, walked from the nearest one outward
//	certificate  a client certificate that the listener has verified
//	token        a signed JWT, verified with keys that were fetched before
//	key          an API key, of which only a hash is kept
//	authority    all of them: an Identity, or why there is none
//	claims       what an identity may claim: a Grant
//	attempt      which try of its caller it says it is
//
// # Lowered, not obeyed
//
// A claim above what its caller may make is lowered to that and counted. It is
// not refused: an honest caller with a wrong header is still served, and a liar
// learns nothing and gains nothing. Who fails to prove who it is is anonymous,
// unless the configuration requires proof.
//
// # What a request costs
//
// Nothing here does I/O while a request waits. Key sets and key files are read
// in the background, by [Authority.Run]; a key set that cannot be fetched any
// more is used as it last was. No address or key is ever taken from a token. A
// token that was verified is remembered, by its hash, in a bounded cache, so
// that a signature is checked once and not at every request.
//
// An [Authority] is safe for concurrent use.
package trust
