// Package deadline is how a deadline travels from a caller to a service: the headers
// that callers name one in, read and written. There is one copy of it, for the gateway,
// for gate/httpgate and for gate/grpcgate, on both sides.
//
// A time that is left travels, no instant, so that nobody's clock has to be right. What
// the way took is lost to it: a caller's own limit ends the wait in any case.
//
//	grpc-timeout                       250m, one to eight digits and a unit; 0 has passed
//	x-envoy-expected-rq-timeout-ms     whole milliseconds; 0 is no limit
//	x-envoy-upstream-rq-timeout-ms     the same
//
// A value that makes no sense is ignored and counted, not refused: the class's own
// deadline governs then, which no caller lengthens by writing nonsense. Functions here
// keep no state and take well under a microsecond.
package deadline
