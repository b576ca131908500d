// Package wire is the short way through the gateway: HTTP/1.1 for plain requests,
// both halves, without what net/http needs to be able to do everything.
//
// # What is plain
//
// A request is plain if nothing about it can be read in two ways and nothing
// about it needs more than one read: HTTP/1.1, a common method, a path, one Host,
// header lines without a trick, and a body that is either none or has come whole
// with its header. Transfer codings, upgrades, expectations, trailers, pipelining,
// absolute targets, folded lines, bare line feeds and whatever does not fit into
// one buffer are not plain.
//
// [Server] answers plain requests itself. At the first that is not plain it hands
// the connection, with what was read of it, to a net/http server for good. So
// there is one set of rules for everything that is awkward, and it is net/http's;
// what is decided here is only what is plain, and when in doubt it is not.
//
// [Pool] keeps connections to an upstream. A [Conn] carries one call at a time, on
// the goroutine of whoever makes it: no other reads or writes for it, which is
// most of what net/http's transport costs. Waiting for the answer can be
// interrupted from outside, and gone on with later by somebody else: that is how a
// caller is answered at its deadline while the work goes on.
//
// # What it costs
//
// Through net/http's server, httputil.ReverseProxy and a tuned http.Transport a
// request takes 90 to 110 µs of a core on the machine of docs/performance.md; the
// page says what it takes this way, with admission.
package wire
