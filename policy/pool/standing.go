package pool

import (
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Standing is the latest refusal of a tenant because its room was full, and what
// it takes for the next request to be refused in the same way. The zero value
// stands never.
type Standing struct {
	After    uint64        // it stands as long as nothing has happened since
	Until    unit.Instant  // or was due
	Needs    time.Duration // for requests that have this much time left
	BytesMax int64         // and retain no more than this
	Why      reason.Reason
	Times    int64 // how often it was repeated and is not on the accounts yet

	// Calendar promises the instants. If its next one is further away than Ahead
	// it is full, and hints lie between Half and the most there may be.
	Calendar    *unit.Instant
	Ahead, Half time.Duration
}
