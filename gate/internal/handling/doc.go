// Package handling runs the handler of a request that was admitted such that its
// caller is answered in time though the handler may not be. It is what the
// adapters for net/http and gRPC have in common.
//
// The handler runs on a goroutine of its own, while the server's waits for
// whichever comes first: the handler's end, or word from the gate that the
// deadline has passed. Until an answer has begun it is open whose it is; who comes
// first has it. A handler that lost goes on, answers nobody, and holds its slot
// until it ends or the class's hard cap takes it away.
package handling
