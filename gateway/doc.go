// Package gateway is the reverse proxy behind `spillway serve`: callers on one
// side, the services of a configuration on the other, and a gate in between
// that decides who is served, who waits and who is told to come back.
//
//	cfg, err := config.ForUpstream("http://127.0.0.1:9001", 40)
//	...
//	g, err := gateway.New(cfg, gateway.Options{})
//	...
//	err = g.Serve(ctx) // until ctx ends; then it drains
//
// A [Gateway] is also an [http.Handler], for a program that has a server
// already. It decides nothing itself: every verdict is the gate's, and what is
// here is the way of a request around it, one file a station:
//
//	path      what the upstream will see is what is matched, or it is refused
//	class     the first class whose pattern fits, else 404
//	key       tenant, importance and cost, bounded whatever a caller sends
//	deadline  the smallest that the caller named
//	hangup    a caller that leaves is noticed at once, read body or not
//	handler   all of the above, then the gate
//	exchange  the call to the upstream, and who owns it when
//	upload    the caller's body, as long as the caller is served
//	runner    a goroutine for it that may outlive the handler, used again
//	overdue   where the gate tells that its deadline passed
//	header    what is said to the upstream and to the caller besides
//	flow      the answer's body, from its first byte to its last
//	flows     those that go on are watched, those that are over by then are not
//	record    what is written of a request for replay
//	gap       how much worse a cheaper answer is for a request
//	learned   what is known of that from requests that both answered
//	sample    which requests are, and what is made of their answers
//	quota     what the ledger is told of a call, and when
//	refuse    an answer that reaches a caller who is still sending
//
// # Slots tell the truth
//
// A slot is what the upstream works on. When a deadline passes or a caller
// hangs up, the caller is done with at once, but the upstream may go on, and as
// long as it does its slot is held: the exchange is handed to the goroutine
// that waits for the upstream, counted as abandoned, and finished when the
// upstream answers or the class's hard cap passes. With `abandoned: { cancel:
// on }` the call is cut instead and the slot is free as soon as it is.
//
// # A refusal is cheap
//
// Before the gate has spoken nothing is made of a request but its key and the
// place where its deadline is told. The watch for a hang-up behind an unread body
// begins when the request has to wait, the exchange when it may run.
//
// # Nobody writes twice
//
// Only the handler's goroutine writes to the caller, and it alone decides
// between an answer and a refusal: the upstream's response reaches it through a
// hand-over that either succeeds once or not at all. What comes later is read
// up to a bound and thrown away.
package gateway
