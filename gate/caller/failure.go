package caller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
)

// ErrFailed is what every failure is, for errors.Is.
var ErrFailed = errors.New("call failed")

// Failure is why a call has no answer. errors.Is finds ErrFailed, the reason itself
// (errors.Is(err, reason.BreakerOpen)), what the last attempt said, and
// context.DeadlineExceeded or context.Canceled where the deadline passed or the
// caller left. errors.AsType finds the reason before any that the dependency gave.
type Failure struct {
	// Reason is timeout, failed, unknown, breaker_open or caller_gone.
	Reason reason.Reason
	// RetryAfter is for how long it is of no use to come back; 0: that is not known.
	RetryAfter time.Duration
	// Attempts is how many were made; 0: the dependency was not asked.
	Attempts int
	// Last is what the last attempt that failed said, or nil.
	Last error
}

// Error says why, after how many attempts, and what the last one said.
func (f *Failure) Error() string {
	s := fmt.Sprintf("spillway: %v", f.Reason)
	switch f.Attempts {
	case 0:
		s += ", not sent"
	case 1:
	default:
		s += fmt.Sprintf(" after %d attempts", f.Attempts)
	}
	if f.Last != nil {
		s += ": " + f.Last.Error()
	}
	return s
}

// Is reports whether the target is ErrFailed.
func (f *Failure) Is(target error) bool { return target == ErrFailed }

// Unwrap returns the reason, what the last attempt said, and the context's error for a
// deadline that passed or a caller who left.
func (f *Failure) Unwrap() []error {
	all := []error{f.Reason}
	if f.Last != nil {
		all = append(all, f.Last)
	}
	switch f.Reason {
	case reason.CallerGone:
		all = append(all, context.Canceled)
	case reason.Timeout:
		all = append(all, context.DeadlineExceeded)
	}
	return all
}

// failure returns the error of a call that was given up. The caller holds mu, or the
// call is over and nobody else's.
func (x *Call) failure() *Failure {
	return &Failure{Reason: x.step.Reason, RetryAfter: x.step.After, Attempts: x.state.Attempts(), Last: x.last}
}

// Timeout reports whether time ran out, as net.Error does: http.Client and its callers
// ask an error for it.
func (f *Failure) Timeout() bool { return f.Reason == reason.Timeout }
