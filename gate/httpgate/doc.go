// Package httpgate puts a gate in front of net/http: middleware that protects a
// handler ([Middleware]), and the answers that a refusal becomes on the wire
// ([Answer]), the same in the library and in the gateway.
//
//	g, err := gate.New(gate.Config{Classes: []gate.Class{{
//		Name: "checkout",
//		Pool: gate.Pool{Slots: 40, Latency: 300 * time.Millisecond},
//	}}})
//	...
//	protect := httpgate.Middleware(g, httpgate.Tenant(httpgate.Header("X-Tenant")))
//	http.Handle("/checkout/", protect(checkout))
//
// # What a handler sees
//
// A request that was admitted, and only such. Its context ends at the request's
// deadline and when the caller hangs up. The deadline is the caller's own, where it
// names one as [Transport], the gateway, Envoy and gRPC do (see [HeedDeadline]), and
// is capped by the class: what its caller would no longer wait for is refused at once
// (infeasible), not begun (expired), or cut off, and frees its slot. Once the answer has begun, the deadline
// has been met and is lifted, so that a stream is not cut; no header of the
// caller's lifts it. Whatever the writer can do without the middleware it can do
// with it: flush, hijack, push, read from a file, set deadlines, send 1xx and
// trailers. Nothing is buffered.
//
// # A handler that ignores its deadline
//
// The caller gets a clean 504 at the deadline. Whatever the handler writes later
// is discarded, with http.ErrHandlerTimeout. Its slot is held until it returns,
// or for as long as the class lets abandoned work hold one: work goes on,
// and there is no capacity where it does.
//
// For that the handler runs on a goroutine of its own while the server's
// waits for whichever comes first, the handler's end or its deadline. The other
// way round, with the handler on the server's goroutine and somebody else to
// write the 504, is cheaper by about a microsecond and not correct: in HTTP/2
// an answer ends when the server's goroutine returns and not before, so that
// a caller would read on for as long as the handler runs.
//
// What follows from it: a panic is raised again on the server's goroutine, with
// the same value, after the handler's stack was written to the server's log; one
// that comes after the 504 is logged only. http.Server.Shutdown does not wait
// for a handler whose caller has been answered, nor does Gate.Drain. A handler
// must not use the request's body or the writer after it returned, as always.
//
// # Limits
//
// net/http notices that an HTTP/1.1 caller has hung up only once the request's
// body has been read. A caller that leaves while it waits with an unread body
// keeps its place until its deadline. The gateway does not have this limit.
// http.CloseNotifier, deprecated since Go 1.11, is not passed on.
package httpgate
