// Package edge is where callers' connections come in: which sockets there are,
// who may open how many connections on them, how a caller's real address and
// certificate are learned, and what one connection or request may cost before
// anything is decided about it.
//
//	sockets, err := edge.Inherit()                      // from systemd, or the process before this one
//	l, err := sockets.Listen(edge.Address{...}, 0o660)  // a TCP, unix or inherited socket
//	front := edge.Wrap(l, caps, edge.Options{...})      // caps, PROXY protocol, stalled writes
//	server := &http.Server{Handler: edge.Guard(handler, limits)}
//
// One file an idea:
//
//	address   what a listener's address may be
//	sockets   new sockets, and those that were left to this process
//	successor handing them to the next process
//	caps      connections in total and of one address
//	listener  accepting: caps, then the PROXY protocol where it is spoken
//	conn      a connection whose writes cannot stall for ever
//	certs     certificates that are read again when they change
//	guard     what a request may look like before it is looked at
//	body      how large and how slow its body may be
//	options   Connection, and header names with underscores
//	resets    HTTP/2 requests that are broken off
//
// What net/http bounds by itself is configured, not built again: the time and
// bytes of a header, idle connections, HTTP/2 streams, CONTINUATION floods,
// framing. The tests in test/hostile hold both to their word.
//
// The package knows nothing of gateways, classes and gates.
package edge
