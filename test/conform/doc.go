// Package conform holds calls through the gateway beside the same calls made
// directly: what the service sees and what the caller gets is identical, but for
// the headers that are ours. Each row of the table is a call as a real client makes
// it (raw bytes, curl, nghttp, h2load, grpc-go, a WebSocket, a browser); each is
// made three times: to the service, through the gateway, and through the gateway
// with the short way for plain requests ruled out.
package conform
