package caller

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/call"
)

// Error is an error whose outcome is known to whoever made it.
type Error struct {
	Outcome call.Outcome
	Err     error
}

// Error is what the error within says.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error within.
func (e *Error) Unwrap() error { return e.Err }

// Refused says that the dependency did not do the work and is too busy, and when it
// wants to be asked again; 0: it did not say.
func Refused(err error, after time.Duration) error {
	return &Error{call.Outcome{Result: call.Refused, After: max(after, 0)}, err}
}

// Unsent says that the attempt surely never reached the dependency.
func Unsent(err error) error { return &Error{call.Outcome{Result: call.Unsent}, err} }

// Broken says that it was sent, and that what came of it is not known.
func Broken(err error) error { return &Error{call.Outcome{Result: call.Broken}, err} }

// Fault says that the dependency tried and failed.
func Fault(err error) error { return &Error{call.Outcome{Result: call.Fault}, err} }

// Neutral says that the error is the answer: it tells nothing of the dependency, and
// asking again would change nothing.
func Neutral(err error) error { return &Error{call.Outcome{Result: call.Neutral}, err} }

// Never adds to an error that the call is not to be made again.
func Never(err error) error {
	o := DefaultOutcome(err)
	o.Never = true
	return &Error{o, err}
}

// DefaultOutcome says what an error means that an attempt came to:
//
//   - an [*Error], what it says;
//   - a gate's refusal, another Caller's failure, a context that was cancelled:
//     Neutral, for it is ours and tells nothing of the dependency;
//   - a connection or a name that could not be had: Unsent;
//   - a deadline, or a connection that broke: Broken;
//   - any other: Fault.
func DefaultOutcome(err error) call.Outcome {
	if err == nil {
		return call.Outcome{}
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Outcome
	}
	return call.Outcome{Result: resultOf(err)}
}

func resultOf(err error) call.Result {
	if errors.Is(err, gate.ErrRefused) || errors.Is(err, ErrFailed) || errors.Is(err, context.Canceled) {
		return call.Neutral
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok || errors.Is(err, syscall.ECONNREFUSED) {
		return call.Unsent
	}
	op, ok := errors.AsType[*net.OpError](err)
	if ok && op.Op == "dial" {
		return call.Unsent
	}
	if ok || broken(err) {
		return call.Broken
	}
	return call.Fault
}
