package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
)

// ErrRefused is what every refusal is, for errors.Is.
var ErrRefused = errors.New("refused")

// Refusal is why a request was not admitted, and when to come back. It is an
// error: errors.As finds it, errors.Is finds ErrRefused and the reason
// itself (errors.Is(err, reason.QueueFull)), and the context's error where the
// caller left (context.Canceled) or its deadline passed
// (context.DeadlineExceeded).
type Refusal struct {
	// Reason is one of the closed set.
	Reason reason.Reason
	// RetryAfter is when to come back: the instant that was promised to this
	// refusal and to no other.
	RetryAfter time.Duration
	// Class is the class that refused.
	Class string
}

// Error says why and when to come back, and nothing about the gate's insides.
func (r *Refusal) Error() string {
	return fmt.Sprintf("spillway: %v, retry after %v", r.Reason, r.RetryAfter.Round(time.Millisecond))
}

// Is reports whether the target is ErrRefused or the refusal's reason.
func (r *Refusal) Is(target error) bool {
	return target == ErrRefused || target == error(r.Reason)
}

// Unwrap returns the context's error for a caller who left or came too late.
func (r *Refusal) Unwrap() error {
	switch r.Reason {
	case reason.CallerGone:
		return context.Canceled
	case reason.Expired, reason.Timeout:
		return context.DeadlineExceeded
	}
	return nil
}
