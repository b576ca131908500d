package call

import (
	"strings"

	"github.com/spillway-dev/spillway/policy/reason"
)

// The codes of gRPC that are more than answers.
const (
	grpcCancelled         = 1
	grpcUnknown           = 2
	grpcDeadlineExceeded  = 4
	grpcResourceExhausted = 8
	grpcInternal          = 13
	grpcUnavailable       = 14
	grpcDataLoss          = 15
)

// GRPC is the status with which a gRPC service ended an attempt that was sent.
type GRPC struct {
	Code    uint32
	Message string
	// Reason is what spillway-reason says, if anything.
	Reason string
	// Said is its word on asking again. Only a service that did not do the work names
	// one; without it UNAVAILABLE is also what a connection that broke in the middle
	// comes to, and what a service says whose own dependency broke.
	Said Pushback
}

// Outcome returns what the attempt came to.
func (g GRPC) Outcome() Outcome { return g.Said.Outcome(g.result()) }

func (g GRPC) result() Result {
	pushed := g.Said.Asked || g.Said.Never
	switch g.Code {
	case grpcUnavailable:
		if pushed && g.Reason != reason.Failed.String() {
			return Refused
		}
		return Broken
	case grpcResourceExhausted:
		switch {
		case pushed:
			return Refused
		case strings.Contains(g.Message, "larger than max"):
			return OK // a message's length: it will be no shorter
		}
		return Fault
	case grpcDeadlineExceeded:
		if g.Reason == reason.Expired.String() {
			return Refused // its time ran out in the queue: it did not run
		}
		return Broken
	case grpcCancelled:
		return Broken
	case grpcUnknown, grpcInternal, grpcDataLoss:
		return Fault
	}
	return OK
}
