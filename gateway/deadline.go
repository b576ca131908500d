package gateway

import (
	"time"

	"github.com/spillway-dev/spillway/gate/deadline"
	"github.com/spillway-dev/spillway/gateway/wire"
)

// appendDeadline is deadline.Write for a request that is put together as text, and
// is not gRPC: of the header's fields those that it writes have been left out.
func (x *exchange) appendDeadline(b []byte, leftOut bool) []byte {
	left := x.permit.Remaining()
	b = appendMillis(b, deadline.HeaderExpected, left)
	if !leftOut {
		return b
	}
	if _, ok := x.in.Header[deadline.HeaderUpstream]; ok {
		b = appendMillis(b, deadline.HeaderUpstream, left)
	}
	if _, ok := x.in.Header[deadline.HeaderGRPC]; ok && x.named {
		b = wire.AppendField(b, deadline.HeaderGRPC, deadline.GRPC(left))
	}
	return b
}

func appendMillis(b []byte, name string, left time.Duration) []byte {
	b = append(append(b, name...), ':', ' ')
	return append(deadline.AppendMillis(b, left), '\r', '\n')
}
