// Command grpc is a gRPC service that keeps answering when it is offered more
// than it can do: four calls run at a time, as many wait as can be served inside
// 300 ms, the rest is told when to come back.
package main
