package gateway

import (
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/gate/deadline"
	"github.com/spillway-dev/spillway/gateway/wire"
)

// appendDeadline is deadline.Write for a request that is put together as text, and
// is not gRPC.
func appendDeadline(b []byte, h http.Header, left time.Duration, callerNamed bool) []byte {
	millis := deadline.Millis(left)
	b = wire.AppendField(b, deadline.HeaderExpected, millis)
	if _, ok := h[deadline.HeaderUpstream]; ok {
		b = wire.AppendField(b, deadline.HeaderUpstream, millis)
	}
	if _, ok := h[deadline.HeaderGRPC]; ok && callerNamed {
		b = wire.AppendField(b, deadline.HeaderGRPC, deadline.GRPC(left))
	}
	return b
}
