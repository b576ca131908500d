// Package grpcgate puts a gate in front of gRPC services: interceptors that
// protect their methods ([UnaryServerInterceptor], [StreamServerInterceptor]), and
// the status that a refusal becomes on the wire ([Status]). [UnaryClient] and
// [StreamClient] are the other side, which calls services under a policy. The gate and its
// reasons are those of gate/httpgate and of the gateway.
//
//	g, err := gate.New(gate.Config{Classes: []gate.Class{{
//		Name: "checkout",
//		Pool: gate.Pool{Slots: 40, Latency: 300 * time.Millisecond},
//	}}})
//	...
//	tenant := grpcgate.Tenant(grpcgate.Metadata("x-tenant"))
//	s := grpc.NewServer(
//		grpc.ChainUnaryInterceptor(grpcgate.UnaryServerInterceptor(g, tenant)),
//		grpc.ChainStreamInterceptor(grpcgate.StreamServerInterceptor(g, tenant)),
//		grpc.StatsHandler(grpcgate.StatsHandler()),
//	)
//
// # What a caller sees of a refusal
//
// RESOURCE_EXHAUSTED where it is the caller's own limit, UNAVAILABLE where it is
// our capacity (a deadline that cannot be met included, for nothing has passed
// yet), DEADLINE_EXCEEDED where the deadline has passed. The details hold a
// google.rpc.ErrorInfo and, unless the request is not to be sent again, a
// RetryInfo; the trailer holds spillway-rung, spillway-reason and
// grpc-retry-pushback-ms, which the retry policies of gRPC clients obey. It is one
// frame without a header before it, or they would not.
//
// # What a handler sees
//
// A request that was admitted, and only such. Its context ends at its deadline
// (the earlier of grpc-timeout and what the class allows; see also [HeedDeadline]) and
// when its caller has gone. A stream's deadline is met by its first message or header, and is lifted
// then; what is left is the caller's own grpc-timeout, which ends all of a call.
//
// A handler that ignores its deadline does not make its caller wait: at that
// instant there is a DEADLINE_EXCEEDED, and what the handler does later answers
// nobody. Its slot is held until it returns, or for as long as the class lets
// abandoned work hold one. As in gate/httpgate it runs on a goroutine of its own
// for that, since an answer ends when the server's goroutine returns and not
// before.
//
// A panic does what it does without this package, and its permit is finished: it
// is raised again on the server's goroutine, with the same value, after the
// handler's stack was written to grpclog, and ends the process unless an
// interceptor recovers it. One that comes after its caller was answered is raised
// on the handler's goroutine, where only an interceptor between this one and the
// handler can recover it: put one that recovers panics last in the chain.
//
// # What the stats handler is for
//
// The interceptors work without it. It measures what they cannot see: how long a
// message is (so that waiting requests count with their bytes, and CostByBytes has
// bytes to go by), and that an answer has begun which was sent by grpc.SendHeader.
//
// It refuses nothing, for it cannot say why: TagRPC has no answer to give, and a
// slot taken there would never be given back by a call to a method that does not
// exist, which ends without another word to the stats handler. A
// tap.ServerInHandle can refuse before a message is read, but with no trailer, so
// that clients would retry when they like, and it must not wait. So a unary
// message is read, up to the server's MaxRecvMsgSize, before its request is
// refused; bound what that can take with grpc.MaxConcurrentStreams. A stream is
// refused before its first message is read. The gateway refuses both before.
//
// # Limits
//
// grpc.Server.GracefulStop does not wait for a handler whose caller has been
// answered, nor does Gate.Drain. A codec that does not copy what it decodes must
// not be used with handlers that ignore their deadline. The standard health
// service is let past the gate; see Exempt.
package grpcgate
