package grpcgate

import (
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/internal/told"
	policy "github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
)

// answered says what an attempt came to that ended with err: nil for an answer, which an
// error about the request is too.
func answered(err error, h *heard) error {
	st, ok := status.FromError(err)
	switch {
	case err == nil:
		return nil
	case !ok, errors.Is(err, caller.ErrFailed), errors.Is(err, gate.ErrRefused):
		return err // an interceptor's between this and the wire, which the Caller judges
	}
	o := outcomeOf(st, h)
	if o == (policy.Outcome{}) {
		return nil
	}
	return &caller.Error{Outcome: o, Err: err}
}

// pushbackOf reads what a status says of asking again: the trailer, and the RetryInfo
// where that names no wait.
func pushbackOf(st *status.Status, h *heard) policy.Pushback {
	p := policy.ReadPushback(h.says, time.Now())
	if p.Asked || p.Never {
		return p
	}
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			p.After, p.Asked = min(max(info.GetRetryDelay().AsDuration(), 0), policy.PushbackMax), true
		}
	}
	return p
}

// outcomeOf says what a status means for the call. grpc-go itself has no other code than
// UNAVAILABLE for a connection that broke in the middle.
func outcomeOf(st *status.Status, h *heard) policy.Outcome {
	said := pushbackOf(st, h)
	if !h.sent() && (st.Code() == codes.Unavailable || st.Code() == codes.DeadlineExceeded) {
		return said.Outcome(policy.Unsent)
	}
	return policy.GRPC{Code: uint32(st.Code()), Message: st.Message(), Reason: h.says(MetadataReason), Said: said}.Outcome()
}

// callError is a call that was given up, as gRPC says it and as the library does.
type callError struct {
	status  *status.Status
	failure *caller.Failure
}

// Error is what the failure says.
func (e *callError) Error() string { return e.failure.Error() }

// GRPCStatus is found by status.FromError, and by a server whose handler returns it.
func (e *callError) GRPCStatus() *status.Status { return e.status }

// Unwrap returns the *caller.Failure.
func (e *callError) Unwrap() error { return e.failure }

// ended returns the error of a call that ended with err, of whose last attempt the error
// was last; nil: none was under way.
func ended(err, last error) error {
	f, given := err.(*caller.Failure)
	if !given {
		return last // the answer
	}
	return &callError{statusOf(f, last), f}
}

// statusOf is what the last attempt was answered, and where time, the breaker or the
// caller ended the call what that is on the wire.
func statusOf(f *caller.Failure, last error) *status.Status {
	if last == nil {
		last = f.Last
	}
	if f.Reason == reason.Failed || f.Reason == reason.Unknown {
		if e, ok := errors.AsType[*caller.Error](last); ok {
			last = e.Err
		}
		if st, ok := status.FromError(last); ok && st.Code() != codes.OK {
			return st
		}
	}
	if f.Reason == reason.CallerGone {
		return status.New(codes.Canceled, told.Of(f.Reason).Detail)
	}
	return Status(gate.Refusal{Reason: f.Reason, RetryAfter: f.RetryAfter})
}
