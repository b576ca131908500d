package told

import "github.com/spillway-dev/spillway/policy/reason"

// The first and the last rung of every ladder.
const (
	RungPrimary = "primary"
	RungRefusal = "refusal"
)

// gRPC status codes (google.golang.org/grpc/codes), by number so that
// HTTP does not import gRPC for them.
const (
	grpcCanceled          = 1
	grpcInvalidArgument   = 3
	grpcDeadlineExceeded  = 4
	grpcResourceExhausted = 8
	grpcAborted           = 10
	grpcUnavailable       = 14
	grpcUnauthenticated   = 16
)

// Telling is what a caller is told of a reason.
type Telling struct {
	// HTTP is the HTTP status, 0 where the answer is the service's own.
	HTTP int
	// GRPC is the gRPC status code, a number of google.golang.org/grpc/codes.
	GRPC int
	// Title names the reason for people.
	Title string
	// Detail says what it means and what to do, in one sentence of printable
	// ASCII without %, so that it needs no escaping in any protocol.
	Detail string
	// Never says that trying again would be wrong.
	Never bool
}

// Of returns what a caller is told of a reason. It is shared and not written to.
func Of(why reason.Reason) *Telling {
	if int(why) < reason.Count {
		return &tellings[why]
	}
	return &tellings[reason.None]
}

var tellings = [reason.Count]Telling{
	reason.ShedForLoad:       {503, grpcUnavailable, "Shed for load", "The service is above its capacity; come back after retry-after, with backoff and jitter.", false},
	reason.QueueFull:         {503, grpcUnavailable, "Queue full", "The service is at its capacity and its waiting room is full; come back after retry-after.", false},
	reason.QueueBytes:        {503, grpcUnavailable, "Queue memory full", "Waiting requests hold all the memory they may; come back after retry-after, or send a smaller body.", false},
	reason.Infeasible:        {503, grpcUnavailable, "Deadline cannot be met", "What is left of the deadline is less than waiting and serving take now; come back after retry-after, or allow more time.", false},
	reason.Draining:          {503, grpcUnavailable, "Draining", "This copy of the service is going away; try again, another copy will answer.", false},
	reason.Operator:          {503, grpcUnavailable, "Degraded by the operator", "The operator has switched this class to degraded answers; come back after retry-after.", false},
	reason.LedgerUnavailable: {503, grpcUnavailable, "Ledger unavailable", "Work cannot be recorded durably now and is therefore not accepted; come back after retry-after.", false},
	reason.RateLimited:       {429, grpcResourceExhausted, "Rate limited", "You send more than your rate limit allows; come back after retry-after.", false},
	reason.TenantFull:        {429, grpcResourceExhausted, "Too many waiting", "As many of your requests wait as may wait at once; come back after retry-after, or send fewer at a time.", false},
	reason.QuotaRequests:     {429, grpcResourceExhausted, "Request quota used up", "The quota of requests is used up; come back after retry-after.", false},
	reason.QuotaTokens:       {429, grpcResourceExhausted, "Token quota used up", "The quota of tokens is used up; come back after retry-after.", false},
	reason.QuotaConcurrency:  {429, grpcResourceExhausted, "Too many at once", "As many calls run as may run at once; come back after retry-after.", false},
	reason.Dropped:           {503, grpcUnavailable, "Dropped", "Best-effort work is thrown away under load; do not send it again.", true},
	reason.Expired:           {504, grpcDeadlineExceeded, "Expired in the queue", "The deadline passed before the request could be served; it was not run.", false},
	reason.BlockTimeout:      {503, grpcUnavailable, "No place in time", "No place in the waiting room came free in time; come back after retry-after.", false},
	reason.Evicted:           {503, grpcUnavailable, "Evicted from the queue", "The request gave way to a more important or a newer one; it was not run. Come back after retry-after.", false},
	reason.CallerGone:        {499, grpcCanceled, "Caller gone", "The caller hung up.", true},
	reason.Timeout:           {504, grpcDeadlineExceeded, "Timed out", "The service did not answer before the deadline; the work may still be running.", false},
	reason.Unknown:           {504, grpcDeadlineExceeded, "Outcome unknown", "The call was made and its outcome is not known; ask for it by its key, do not send it again blindly.", true},
	reason.Failed:            {502, grpcUnavailable, "Service failed", "The service could not be reached or broke off; come back after retry-after.", false},
	reason.BreakerOpen:       {503, grpcUnavailable, "Breaker open", "The service has been failing and is not called for a while; come back after retry-after.", false},
	reason.BadRequest:        {400, grpcInvalidArgument, "Bad request", "The request is malformed; correct it before sending it again.", true},
	reason.Unauthorized:      {401, grpcUnauthenticated, "Unauthorized", "Who is asking could not be established.", true},
	reason.TooLarge:          {413, grpcInvalidArgument, "Too large", "The request is larger than is accepted.", true},
	reason.KeyInProgress:     {409, grpcAborted, "Key in progress", "A request with this idempotency key is still running; come back for its answer after retry-after.", false},
	reason.KeyConflict:       {422, grpcInvalidArgument, "Key conflict", "This idempotency key was used with another request; use a new key.", true},
}
